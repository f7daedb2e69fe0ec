package adapter

import (
	"bytes"
	"embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed presets/*.json
var presetFiles embed.FS

// presets in the order of listings; the first is the default.
var presets = []string{"neutral", "amd", "intel", "nvidia", "native"}

const (
	maxFile = 1 << 20 // bytes of a profile file
	maxBase = 8       // profiles that build on each other
)

// Presets are the names of the built-in profiles; the first is the default.
func Presets() []string { return slices.Clone(presets) }

// Load returns the profile of a preset name or of a file, validated. The error says
// which rule is broken and, for an unknown name, what could have been meant.
func Load(nameOrPath string) (*Profile, error) {
	p, err := load(nameOrPath, "", maxBase)
	if err != nil {
		return nil, err
	}
	return p, p.Validate()
}

// LoadAll loads several profiles for one kernel. A profile that appears again gets
// the next PCI bus and another GUID, so that no two adapters share an address.
func LoadAll(namesOrPaths []string) ([]*Profile, error) {
	var all []*Profile
	for _, n := range namesOrPaths {
		p, err := Load(n)
		if err != nil {
			return nil, err
		}
		for slices.ContainsFunc(all, p.sharesAddress) {
			p.PCI.Bus++
			low := p.GUID[12:]
			binary.BigEndian.PutUint32(low, binary.BigEndian.Uint32(low)+1)
			if err := p.Validate(); err != nil {
				return nil, err
			}
		}
		all = append(all, p)
	}
	return all, nil
}

func (p *Profile) sharesAddress(o *Profile) bool { return p.PCI == o.PCI || p.GUID == o.GUID }

// load reads a profile and what it builds on. dir is where relative paths start.
func load(nameOrPath, dir string, depth int) (*Profile, error) {
	data, file, err := read(nameOrPath, dir)
	if err != nil {
		return nil, err
	}
	p, err := parse(data, filepath.Dir(file), depth)
	if err != nil {
		return nil, fmt.Errorf("adapter profile %s: %w", file, err)
	}
	return p, nil
}

// read returns the text of a profile and the name of its file.
func read(nameOrPath, dir string) (data []byte, file string, err error) {
	if slices.Contains(presets, nameOrPath) {
		file = path.Join("presets", nameOrPath+".json")
		data, err = presetFiles.ReadFile(file)
		return data, file, err
	}
	file = nameOrPath
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	f, err := os.Open(file)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, "", fmt.Errorf("adapter profile %q: no preset of that name (%s) and no such file; give a preset or the path of a profile file",
				nameOrPath, strings.Join(presets, ", "))
		}
		return nil, "", fmt.Errorf("adapter profile %q: %w", nameOrPath, err)
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, "", fmt.Errorf("adapter profile %q: %w", nameOrPath, err)
	}
	if len(data) > maxFile {
		return nil, "", fmt.Errorf("adapter profile %q: the file is larger than %d bytes", nameOrPath, maxFile)
	}
	return data, file, nil
}

// parse decodes a profile over the one it names as its base.
func parse(data []byte, dir string, depth int) (*Profile, error) {
	var head struct {
		Base                 string          `json:"base"`
		Nodes, Displays, UMD json.RawMessage // only whether they are given
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	file := struct {
		Base string `json:"base"`
		*Profile
	}{Profile: &Profile{PhysicalAdapters: 1}}
	if head.Base != "" {
		if depth == 0 {
			return nil, fmt.Errorf("base: more than %d profiles build on each other", maxBase)
		}
		base, err := load(head.Base, dir, depth-1)
		if err != nil {
			return nil, fmt.Errorf("base: %w", err)
		}
		file.Profile = base
		// A list replaces the base's list; the decoder would merge their elements.
		clearIf(head.Nodes, &base.Nodes)
		clearIf(head.Displays, &base.Displays)
		clearIf(head.UMD, &base.UMD)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	return file.Profile, nil
}

func clearIf[T any](given json.RawMessage, list *[]T) {
	if given != nil {
		*list = nil
	}
}
