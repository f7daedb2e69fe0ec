// Command genc writes the operation table as a C header for the C library.
//
//	go run ./internal/genc -o ../c/src/optable.h
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/dxgsync/dxgsync/abi"
)

func main() {
	out := flag.String("o", "", "file to write; standard output if empty")
	flag.Parse()
	text := table(abi.Ops)
	var err error
	if *out == "" {
		_, err = os.Stdout.Write(text)
	} else {
		err = os.WriteFile(*out, text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "genc:", err)
		os.Exit(1)
	}
}
