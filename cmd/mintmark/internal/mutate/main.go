package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

func main() {
	files := flag.String("files", "", "regular expression of the files to break (default: all)")
	workers := flag.Int("workers", runtime.NumCPU(), "tests to run at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *files, *workers, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		stop()
		os.Exit(1)
	}
}

// explainedFile is below the root of the module.
const explainedFile = "cmd/mintmark/internal/mutate/explained.txt"

func run(ctx context.Context, files string, workers int, out io.Writer) error {
	chosen, err := regexp.Compile(files)
	if err != nil {
		return err
	}
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	list, err := os.Open(filepath.Join(root, explainedFile))
	if err != nil {
		return err
	}
	defer list.Close()
	reasons, err := readExplained(list)
	if err != nil {
		return fmt.Errorf("%s: %w", explainedFile, err)
	}
	var survivors []mutant
	for _, f := range families {
		rest, err := f.play(ctx, root, chosen.MatchString, workers, out)
		if err != nil {
			return err
		}
		survivors = append(survivors, rest...)
	}
	unexplained, place := 0, ""
	for _, m := range survivors {
		if reasons.reason(m) != "" {
			continue
		}
		unexplained++
		if m.place() != place {
			place = m.place()
			fmt.Fprintln(out, place)
		}
		fmt.Fprintf(out, "\t%s: \n", m.change())
	}
	var needless []string
	if files == "" {
		needless = reasons.without(survivors)
	}
	for _, entry := range needless {
		fmt.Fprintf(out, "explained, but it does not survive: %s\n", entry)
	}
	if unexplained+len(needless) > 0 {
		return fmt.Errorf("%d survivors are not explained, %d explanations are not needed", unexplained, len(needless))
	}
	return nil
}
