//go:build ignore

// This program writes lookalike_table.go from files of the Unicode Character Database and of
// Unicode Technical Standard 39:
//
//	go run lookalike_generate.go UnicodeData.txt confusables.txt
//
// https://www.unicode.org/Public/15.0.0/ucd/UnicodeData.txt
// https://www.unicode.org/Public/17.0.0/security/confusables.txt
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run lookalike_generate.go UnicodeData.txt confusables.txt")
	}
	d := data{name: map[rune]string{}, parts: map[rune][]rune{}, lower: map[rune]rune{}, prototype: map[rune][]rune{}, small: map[rune]rune{}}
	each(os.Args[1], d.character)
	each(os.Args[2], d.confusable)
	for c, letter := range d.small { // a class with a small capital reads as that letter
		if p := d.prototype[c]; len(p) == 1 && d.small[p[0]] == 0 && p[0] > '~' {
			d.small[p[0]] = letter
		}
	}
	read := map[string][]rune{}
	for c := range d.name {
		if c <= '~' || isMark(c) || c >= 0xac00 && c <= 0xd7a3 {
			continue
		}
		if text, ok := d.read(c); ok {
			read[text] = append(read[text], c)
		}
	}
	if err := os.WriteFile("lookalike_table.go", source(read), 0o644); err != nil {
		log.Fatal(err)
	}
}

// each calls use with the fields of each line of a file.
func each(name string, use func([]string)) {
	text, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) != "" {
			use(strings.Split(line, ";"))
		}
	}
}

type data struct {
	name      map[rune]string
	parts     map[rune][]rune // the decomposition, canonical or compatible, one step
	lower     map[rune]rune
	prototype map[rune][]rune
	small     map[rune]rune // letters that small capitals read as
}

var (
	smallCapital = regexp.MustCompile(`^(MODIFIER LETTER|LATIN LETTER)( SMALL)? CAPITAL ([A-Z])$`)
	named        = regexp.MustCompile(`^(?:LATIN (?:SMALL|CAPITAL) LETTER ([A-Z]) WITH .*|(?:NEGATIVE (?:SQUARED|CIRCLED) LATIN CAPITAL LETTER|CROSSED NEGATIVE SQUARED LATIN CAPITAL LETTER|REGIONAL INDICATOR SYMBOL LETTER) ([A-Z]))$`)
)

func (d *data) character(f []string) {
	c := hex(f[0])
	d.name[c] = f[1]
	if m := smallCapital.FindStringSubmatch(f[1]); m != nil {
		d.small[c] = rune(m[3][0] | 0x20)
	}
	for _, part := range strings.Fields(f[5]) {
		if part[0] != '<' {
			d.parts[c] = append(d.parts[c], hex(part))
		}
	}
	if f[13] != "" {
		d.lower[c] = hex(f[13])
	}
}

func (d *data) confusable(f []string) {
	var to []rune
	for _, part := range strings.Fields(f[1]) {
		to = append(to, hex(part))
	}
	if string(to) == "rn" { // all that looks like rn looks like m
		to = []rune("m")
	}
	d.prototype[hex(f[0])] = to
}

func hex(s string) rune {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 16, 32)
	if err != nil {
		log.Fatal(err)
	}
	return rune(n)
}

// isMark is like mark in lookalike.go.
func isMark(c rune) bool {
	return c >= 0x300 && c <= 0x36f || c >= 0x1ab0 && c <= 0x1aff || c >= 0x1dc0 && c <= 0x1dff || c >= 0x20d0 && c <= 0x20ff || c >= 0xfe00 && c <= 0xfe0f || c >= 0xfe20 && c <= 0xfe2f
}

// read returns the ASCII letters, digits and dots that a character looks like, if it does: by its
// decomposition, or else by its prototype.
func (d *data) read(c rune) (text string, ok bool) {
	if text, ok := d.follow([]rune{c}); ok || d.prototype[c] == nil {
		return text, ok
	}
	return d.follow(d.prototype[c])
}

func (d *data) follow(all []rune) (text string, ok bool) {
	for range 12 {
		var next []rune
		for _, one := range all {
			next = append(next, d.step(one)...)
		}
		if slices.Equal(all, next) {
			break
		}
		all = next
	}
	for _, one := range all {
		switch {
		case one >= 'a' && one <= 'z', one >= '0' && one <= '9', one == '.':
			text += string(one)
		case one > '~':
			return "", false
		}
	}
	return text, strings.Trim(text, ".") != "" && len(text) <= 4 || text == "."
}

func (d *data) step(c rune) []rune {
	switch {
	case isMark(c):
		return nil
	case c == 0x3002:
		return []rune{'.'} // as in IDNA
	case c <= '~':
		if lower, ok := d.lower[c]; ok {
			return []rune{lower}
		}
		return []rune{c}
	case len(d.parts[c]) > 0:
		return d.parts[c]
	case d.small[c] != 0:
		return []rune{d.small[c]}
	case d.prototype[c] != nil:
		return d.prototype[c]
	}
	if m := named.FindStringSubmatch(d.name[c]); m != nil {
		return []rune(strings.ToLower(m[1] + m[2]))
	}
	if lower, ok := d.lower[c]; ok {
		return []rune{lower}
	}
	return []rune{c}
}

func source(read map[string][]rune) []byte {
	var b bytes.Buffer
	b.WriteString(header)
	b.WriteString("package ledger\n\n// lookalikeTable has, after what they look like, the characters beyond ASCII that look like ASCII\n// letters, digits or a dot.\nvar lookalikeTable = [...]struct{ text, like string }{\n")
	var texts []string
	for text := range read {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	for _, text := range texts {
		slices.Sort(read[text])
		for some := range slices.Chunk(read[text], 12) {
			fmt.Fprintf(&b, "{%q, %s},\n", text, strconv.QuoteToASCII(string(some)))
		}
	}
	b.WriteString("}\n")
	formatted, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	return formatted
}

const header = `// Code generated by lookalike_generate.go. DO NOT EDIT.

// The table is derived from data files of Unicode: UnicodeData.txt 15.0.0 and confusables.txt
// 17.0.0 of Unicode Technical Standard 39. It has less and other content than these files.
//
// UNICODE LICENSE V3
//
// COPYRIGHT AND PERMISSION NOTICE
//
// Copyright © 1991-2025 Unicode, Inc.
//
// NOTICE TO USER: Carefully read the following legal agreement. BY
// DOWNLOADING, INSTALLING, COPYING OR OTHERWISE USING DATA FILES, AND/OR
// SOFTWARE, YOU UNEQUIVOCALLY ACCEPT, AND AGREE TO BE BOUND BY, ALL OF THE
// TERMS AND CONDITIONS OF THIS AGREEMENT. IF YOU DO NOT AGREE, DO NOT
// DOWNLOAD, INSTALL, COPY, DISTRIBUTE OR USE THE DATA FILES OR SOFTWARE.
//
// Permission is hereby granted, free of charge, to any person obtaining a
// copy of data files and any associated documentation (the "Data Files") or
// software and any associated documentation (the "Software") to deal in the
// Data Files or Software without restriction, including without limitation
// the rights to use, copy, modify, merge, publish, distribute, and/or sell
// copies of the Data Files or Software, and to permit persons to whom the
// Data Files or Software are furnished to do so, provided that either (a)
// this copyright and permission notice appear with all copies of the Data
// Files or Software, or (b) this copyright and permission notice appear in
// associated Documentation.
//
// THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY
// KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
// MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF
// THIRD PARTY RIGHTS.
//
// IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE
// BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR CONSEQUENTIAL DAMAGES,
// OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS,
// WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION,
// ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA
// FILES OR SOFTWARE.
//
// Except as contained in this notice, the name of a copyright holder shall
// not be used in advertising or otherwise to promote the sale, use or other
// dealings in these Data Files or Software without prior written
// authorization of the copyright holder.

`
