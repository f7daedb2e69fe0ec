// Command flaggrid makes the scenarios of conformance/flags from the table beside
// them: which flags CreateSynchronizationObject2 and the calls of native fences take, by kind
// and WDDM version. It is given the folder of the corpus.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/dxgsync/dxgsync/internal/suite"
)

//go:generate go run . ../../../conformance

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: flaggrid FOLDER")
	}
	files, err := generate(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// generate returns the text of every scenario by its path.
func generate(folder string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "flags.tsv"))
	if err != nil {
		return nil, err
	}
	kinds, err := readTable(string(text))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, k := range kinds {
		for _, v := range k.levels() {
			s := scenario{kind: k, version: v, table: suite.DefaultTable()}
			files[filepath.Join(folder, "flags", s.name()+".txt")] = s.text()
		}
	}
	return files, nil
}
