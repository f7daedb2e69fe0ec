// Command ctable writes the conformance driver's table of calls to the file it is
// given.
package main

import (
	"log"
	"os"

	"github.com/dxgsync/dxgsync/internal/suite"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: ctable FILE")
	}
	if err := os.WriteFile(os.Args[1], []byte(suite.DefaultTable().CTable()), 0o644); err != nil {
		log.Fatal(err)
	}
}
