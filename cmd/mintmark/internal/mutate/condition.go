package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A condition is one boolean operand in the program's text.
type condition struct {
	file string // below the root of the module
	line string // text of the line in which it begins, without indentation
	text string // its own text, in one line
}

// A mutant is a condition with a constant value.
type mutant struct {
	condition
	id    int // of the condition
	value bool
}

// place returns the mutant's line, in the form of explained.txt.
func (c condition) place() string { return c.file + ": " + c.line }

// change returns the mutant's change, in the form of explained.txt.
func (m mutant) change() string { return fmt.Sprintf("%s always %t", m.text, m.value) }

// source is a file with its conditions wrapped.
type source struct {
	path       string // absolute
	text       []byte
	conditions []condition
}

// edit inserts text at an offset.
type edit struct {
	at   int
	text string
}

// wrap turns each condition of a file into a call of If in the switch package, which
// decides which of them is broken. first is the number of the first one. Lines keep their
// numbers.
func wrap(path, file string, first int) (*source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	w := &wrapper{set: set, text: text, file: file, first: first, leaves: map[ast.Expr]bool{}, skipped: map[ast.Node]bool{}}
	w.walk(tree)
	if len(w.conditions) == 0 {
		return &source{path: path, text: text}, nil
	}
	w.edits = append(w.edits, edit{set.Position(tree.Name.End()).Offset, fmt.Sprintf("; import %s %q", switchName, switchPath)})
	slices.SortStableFunc(w.edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	last := 0
	for _, e := range w.edits {
		out = append(append(out, text[last:e.at]...), e.text...)
		last = e.at
	}
	return &source{path: path, text: append(out, text[last:]...), conditions: w.conditions}, nil
}

type wrapper struct {
	set        *token.FileSet
	text       []byte
	file       string
	first      int
	leaves     map[ast.Expr]bool // of type bool, as known from their position
	skipped    map[ast.Node]bool // conditions of loops
	edits      []edit
	conditions []condition
}

// walk visits n from the outside in, so that edits at one offset nest.
func (w *wrapper) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.ForStmt:
			w.skip(n.Cond)
		case *ast.IfStmt:
			w.leaf(n.Cond)
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, s := range n.Body.List {
					for _, e := range s.(*ast.CaseClause).List {
						w.leaf(e)
					}
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				w.leaf(n.X)
			}
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LAND, token.LOR:
				w.leaf(n.X)
				w.leaf(n.Y)
			case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				w.leaf(n)
			}
		}
		if e, ok := n.(ast.Expr); ok && w.leaves[e] && !w.skipped[e] {
			delete(w.leaves, e) // a comparison is visited twice
			w.open(e)
			w.inside(e)
			w.edits = append(w.edits, edit{w.offset(e.End()), ")"})
			return false
		}
		return true
	})
}

// inside walks the operands of a condition.
func (w *wrapper) inside(e ast.Expr) {
	first := true
	ast.Inspect(e, func(n ast.Node) bool {
		if first {
			first = false
			return true
		}
		if n != nil {
			w.walk(n)
		}
		return false
	})
}

// leaf marks an operand without operands of its own.
func (w *wrapper) leaf(e ast.Expr) {
	for {
		switch n := e.(type) {
		case *ast.ParenExpr:
			e = n.X
			continue
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				return // its operand is marked when the walk visits it
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				return
			}
		}
		w.leaves[e] = true
		return
	}
}

// skip excludes the operands of a loop's condition, but not those of functions in it.
func (w *wrapper) skip(cond ast.Expr) {
	if cond == nil {
		return
	}
	ast.Inspect(cond, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if n != nil {
			w.skipped[n] = true
		}
		return true
	})
}

func (w *wrapper) offset(p token.Pos) int { return w.set.Position(p).Offset }

func (w *wrapper) open(e ast.Expr) {
	at := w.offset(e.Pos())
	id := w.first + len(w.conditions)
	w.edits = append(w.edits, edit{at, fmt.Sprintf("%s.If(%d, ", switchName, id)})
	begin := strings.LastIndexByte(string(w.text[:at]), '\n') + 1
	line, _, _ := strings.Cut(string(w.text[begin:]), "\n")
	w.conditions = append(w.conditions, condition{
		file: w.file,
		line: strings.TrimSpace(line),
		text: strings.Join(strings.Fields(string(w.text[at:w.offset(e.End())])), " "),
	})
}

// wrapAll wraps the files of the module that match the patterns, in order.
func wrapAll(root string, patterns []string, chosen func(file string) bool) ([]*source, []condition, error) {
	var sources []*source
	var all []condition
	for _, p := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, p))
		if err != nil {
			return nil, nil, err
		}
		for _, path := range paths {
			file, err := filepath.Rel(root, path)
			if err != nil {
				return nil, nil, err
			}
			if strings.HasSuffix(file, "_test.go") || !chosen(file) {
				continue
			}
			built, err := build.Default.MatchFile(filepath.Split(path))
			if err != nil {
				return nil, nil, err
			}
			if !built {
				continue // a program that generates another file
			}
			s, err := wrap(path, file, len(all))
			if err != nil {
				return nil, nil, err
			}
			sources, all = append(sources, s), append(all, s.conditions...)
		}
	}
	return sources, all, nil
}
