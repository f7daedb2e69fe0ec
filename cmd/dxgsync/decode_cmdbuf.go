package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/decode"
	"github.com/spf13/cobra"
)

func decodeCmdbufCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cmdbuf FILE|-",
		Short: "Show the commands of a command buffer",
		Long: `Shows the commands of a command buffer of the software GPU, with their offsets, and
why the GPU would fault behind the last one. The file has the buffer's bytes as they
are, and nothing else; "-" is standard input.

Buffers that were written for other GPUs are recognised and not read.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := readBuffer(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			c := decode.ExplainCommands(b)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), c)
			}
			return showCommands(cmd.OutOrStdout(), c)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// readBuffer reads a file, a byte further than the GPU does.
func readBuffer(name string, in io.Reader) ([]byte, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	b, err := io.ReadAll(io.LimitReader(in, cmdbuf.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read the command buffer: %w", err)
	}
	if len(b) > cmdbuf.MaxSize {
		return nil, fmt.Errorf("more than %d bytes, the GPU takes no longer buffer; cut it out of its memory", cmdbuf.MaxSize)
	}
	return b, nil
}

func showCommands(w io.Writer, c *decode.Commands) error {
	if c.Foreign {
		_, err := fmt.Fprintf(w, "%d bytes, which do not begin as a buffer of the software GPU does\n", c.Size)
		return err
	}
	fmt.Fprintf(w, "%d bytes, %d commands\n\n", c.Size, len(c.Commands))
	t := newTable(w, "OFFSET", "SIZE", "COMMAND", "FIELDS")
	for _, l := range c.Commands {
		var fields []string
		for _, f := range l.Fields {
			fields = append(fields, f.Name+"="+f.Value)
		}
		t.row(fmt.Sprintf("0x%04x", l.Offset), l.Size, l.Name, strings.Join(fields, " "))
	}
	err := t.flush()
	if c.Fault != "" {
		fmt.Fprintf(w, "\nfault %s\n", c.Fault)
	}
	return err
}
