package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/decode"
	"github.com/spf13/cobra"
)

func init() { register(decodeCommand) }

func decodeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "decode",
		Short: "Explain flags, statuses, handles, records and command buffers",
		Long: `Explains what a debugger shows of the D3DKMT calls: flag words with the rule that
each bit breaks, statuses, handles, and whole records from a hex dump.

    dxgsync decode flags 0x83 --kind monitored-fence --wddm 2.0
    dxgsync decode status 0xC0000022
    dxgsync decode handle 0x40000440
    dxgsync decode record createsynchronizationobject2 < dump.txt
    dxgsync decode cmdbuf buffer.bin

It asks no kernel: what it says holds for every implementation.`,
	}
	cmd.AddCommand(decodeFlagsCommand(), decodeStatusCommand(), decodeHandleCommand(), decodeRecordCommand(), decodeCmdbufCommand())
	return cmd
}

type decodeFlags struct {
	word, kind, wddm, at string
	json                 bool
}

func decodeFlagsCommand() *cobra.Command {
	var f decodeFlags
	cmd := &cobra.Command{
		Use:   "flags VALUE",
		Short: "Explain a flag word and the status that it gets",
		Long: `Explains a flag word, bit by bit, and says what the call answers to it. VALUE is a
number (131, 0x83, 83h) or names ("Shared|NoGPUAccess"), or both.

Flags of synchronization objects (--word sync) are legal or not by kind and WDDM
version of the adapter; without --kind or --wddm it says what holds for each kind.
--at open asks for the openers of NT handles instead of creation.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := f.explain(args[0])
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(cmd.OutOrStdout(), all)
			}
			return showFlags(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().StringVar(&f.word, "word", "sync", "flag word: sync, signal, wait, device, context, hwqueue")
	cmd.Flags().StringVar(&f.kind, "kind", "", "kind of synchronization object, as mutex or monitored-fence")
	cmd.Flags().StringVar(&f.wddm, "wddm", "", "WDDM version of the adapter, as 2.0")
	cmd.Flags().StringVar(&f.at, "at", string(decode.AtCreate), "when the flags are given: create or open")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return negative(cmd)
}

func (f *decodeFlags) explain(text string) (*decode.Flags, error) {
	word, err := decode.FindWord(f.word)
	if err != nil {
		return nil, err
	}
	v, err := word.Parse(text)
	if err != nil {
		return nil, err
	}
	var w abi.WDDM
	if f.wddm != "" {
		if w, err = decode.Version(f.wddm); err != nil {
			return nil, err
		}
	}
	if word.Name != "sync" {
		if f.kind != "" || f.at != string(decode.AtCreate) {
			return nil, fmt.Errorf("--kind and --at go with --word sync; leave them out for %s", word.Name)
		}
		return decode.Other(word, v, w)
	}
	q := decode.Question{Value: v, WDDM: w, At: decode.Moment(f.at)}
	if f.kind != "" {
		if q.Kind, err = decode.Kind(f.kind); err != nil {
			return nil, err
		}
	}
	return decode.SyncObject(q)
}

// showFlags prints a heading, a line per bit, and the verdicts.
func showFlags(w io.Writer, f *decode.Flags) error {
	fmt.Fprintf(w, "%s %s = %s\n", f.Word, f.Value, f.Names)
	judged := false
	for _, b := range f.Bits {
		judged = judged || b.State != ""
	}
	if len(f.Bits) > 0 {
		fmt.Fprintln(w)
		titles := []string{"BIT", "MASK", "NAME", "SINCE", "MEANING"}
		if judged {
			titles = []string{"BIT", "MASK", "NAME", "SINCE", "STATE", "RULE", "MEANING"}
		}
		t := newTable(w, titles...)
		for _, b := range f.Bits {
			cells := []any{b.Bit, b.Mask, b.Name, dash(b.Since)}
			if judged {
				cells = append(cells, dash(string(b.State)), dash(ruleText(b)))
			}
			t.row(append(cells, b.Meaning)...)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	t := newTable(w)
	for _, v := range f.Verdicts {
		if v.Why == "" {
			t.row(v.For, verdictText(v))
		} else {
			t.row(v.For, verdictText(v), v.Why)
		}
	}
	return t.flush()
}

func ruleText(b decode.Bit) string {
	if b.Breaks == "" {
		return ""
	}
	return b.Breaks + ": " + b.Remedy
}

func verdictText(v decode.Verdict) string {
	if v.Versions == "" {
		return v.Status + " (" + v.Value + ")"
	}
	return "accepted: " + v.Versions
}

func decodeStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status VALUE",
		Short: "Explain an NTSTATUS",
		Long: `Explains a status: its name (with or without STATUS_), a number in hexadecimal or
decimal, also negative as debuggers print an int, or eight hexadecimal digits.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := decode.ParseStatus(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), s)
			}
			return showStatus(cmd.OutOrStdout(), s)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return negative(cmd)
}

func showStatus(w io.Writer, s *decode.Status) error {
	name, meaning := s.Name, s.Meaning
	if name == "" {
		name, meaning = "no name here", "None that these calls are known to answer."
	}
	t := newTable(w)
	t.row("name", name)
	t.row("value", fmt.Sprintf("%s, %d as an int", s.Value, s.Signed))
	t.row("severity", s.Severity)
	t.row("facility", fmt.Sprintf("%s, code %#x", s.FacilityName(), s.Code))
	t.row("NT_SUCCESS", yesNo(s.Success))
	t.row("meaning", meaning)
	if s.Errno != "" {
		back := ""
		if s.Back != s.Name {
			back = ", which comes back as " + s.Back
		}
		t.row("on /dev/dxg", "errno "+s.Errno+back)
	} else {
		t.row("on /dev/dxg", "the result of the request")
	}
	if len(s.Calls) > 0 {
		t.row("always from", strings.Join(s.Calls, ", "))
	}
	return t.flush()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func decodeHandleCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "handle VALUE",
		Short: "Explain a handle: local, global, NT handle, or none",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := decode.ParseHandle(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), h)
			}
			t := newTable(cmd.OutOrStdout())
			t.row("handle", h.Value)
			t.row("form", h.Form)
			if h.Form != decode.NoHandle && h.Form != decode.NTHandle {
				t.row("index", fmt.Sprintf("%d (bits 6 to 29)", h.Index))
				t.row("instance", fmt.Sprintf("%#x (bits 0 to 5)", h.Instance))
				t.row("uniqueness", fmt.Sprintf("%d (bits 30 and 31)", h.Uniqueness))
			}
			t.row("meaning", h.Meaning)
			return t.flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return negative(cmd)
}

type decodeRecord struct {
	file, groups, wddm string
	json               bool
}

func decodeRecordCommand() *cobra.Command {
	var f decodeRecord
	cmd := &cobra.Command{
		Use:   "record NAME < DUMP",
		Short: "Take a record apart",
		Long: `Takes the record of a call apart. NAME is a record or a call, with or without
D3DKMT, in any case; the dump is read from standard input: hexadecimal bytes, or what
xxd, hexdump -C, od, WinDbg (db, dw, dd, dq), gdb (x) or lldb print, with addresses and
text. --file reads the bytes themselves from a file instead.

Groups of more than two digits are read as their dump shows them: bytes in order after
"address:" as xxd writes it, little-endian numbers otherwise. Where the dump does not
tell, --groups memory or --groups numbers must.

The layout is that of 64-bit programs. Flags of synchronization objects are judged at
the WDDM version of --wddm.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.explain(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return showRecord(cmd.OutOrStdout(), r)
		},
	}
	cmd.Flags().StringVar(&f.file, "file", "", "read the record's bytes from this file, as they are")
	cmd.Flags().StringVar(&f.groups, "groups", string(decode.Guess), "what groups of digits are: guess, memory or numbers")
	cmd.Flags().StringVar(&f.wddm, "wddm", "3.2", "WDDM version of the adapter")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("file", "groups")
	return cmd
}

func (f *decodeRecord) explain(name string, in io.Reader) (*decode.Record, error) {
	record, op, err := decode.FindRecord(name)
	if err != nil {
		return nil, err
	}
	version, err := decode.Version(f.wddm)
	if err != nil {
		return nil, err
	}
	dump, err := f.read(in)
	if err != nil {
		return nil, err
	}
	return decode.ExplainRecord(record, op, dump, version), nil
}

// maxDumpText bounds what is read: some ten characters for each byte of a dump.
const maxDumpText = 16 * decode.MaxDump

func (f *decodeRecord) read(in io.Reader) ([]byte, error) {
	if f.file == "" {
		text, err := io.ReadAll(io.LimitReader(in, maxDumpText+1))
		if err != nil {
			return nil, fmt.Errorf("read the dump: %w", err)
		}
		if len(text) > maxDumpText {
			return nil, fmt.Errorf("the dump has more than %d characters; give only the record", maxDumpText)
		}
		return decode.ReadHex(string(text), decode.Groups(f.groups))
	}
	file, err := os.Open(f.file)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, decode.MaxDump+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) == 0:
		return nil, fmt.Errorf("%s is empty; give the bytes of the record", f.file)
	case len(b) > decode.MaxDump:
		return nil, fmt.Errorf("%s has more than %d bytes; cut the record out of it", f.file, decode.MaxDump)
	}
	return b, nil
}

func showRecord(w io.Writer, r *decode.Record) error {
	fmt.Fprintf(w, "%s, %d bytes", r.Name, r.Size)
	if r.Call != "" {
		fmt.Fprintf(w, ", the argument of %s", r.Call)
	}
	fmt.Fprint(w, "\n\n")
	t := newTable(w, "OFFSET", "SIZE", "FIELD", "VALUE")
	for _, f := range r.Fields {
		text := f.Text
		if f.Missing {
			text = strings.TrimSuffix("missing: "+text, ": ")
		}
		t.row(fmt.Sprintf("0x%02X", f.Offset), f.Size, f.Name, text)
	}
	err := t.flush()
	if r.Flags != nil {
		fmt.Fprintf(w, "\nFlags at %s for a %s at WDDM %s: ", r.Flags.At, r.Flags.Kind, r.Flags.WDDM)
		err = errors.Join(err, showFlags(w, r.Flags))
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	return err
}

// negative lets a command take a negative number as its argument, which would else
// look like a flag.
func negative(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	check := cmd.Args
	cmd.DisableFlagParsing = true
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var numbers, others []string
		for _, a := range args {
			if len(a) > 1 && a[0] == '-' && a[1] >= '0' && a[1] <= '9' {
				numbers = append(numbers, a)
			} else {
				others = append(others, a)
			}
		}
		if err := cmd.Flags().Parse(others); err != nil {
			return err
		}
		if help, _ := cmd.Flags().GetBool("help"); help {
			return cmd.Help()
		}
		args = append(numbers, cmd.Flags().Args()...)
		if err := check(cmd, args); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return cmd
}
