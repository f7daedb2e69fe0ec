// Command packetgrid makes the scenarios of conformance/operations from the table beside
// them: which operation takes which kind of object. It is given the folder of the corpus.
package main

import (
	"log"
	"os"
	"path/filepath"
)

//go:generate go run . ../../../conformance

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: packetgrid FOLDER")
	}
	files, err := generate(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(os.Args[1], "operations"), 0o755); err != nil {
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
	text, err := os.ReadFile(filepath.Join(folder, "packets.tsv"))
	if err != nil {
		return nil, err
	}
	kinds, rows, err := readTable(string(text))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, r := range rows {
		files[filepath.Join(folder, "operations", r.file()+".txt")] = r.scenario(kinds)
	}
	return files, nil
}
