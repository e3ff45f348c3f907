package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// mcpEnv names the file of elicitations in the environment of a process of this program that is an
// MCP server.
const mcpEnv = "CCBOT_TEST_MCP"

type mcpMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

// serveMCP is an MCP server with one tool, "ask". A call of the tool elicits what the file has
// under its "form", and returns what the client answered. Without a form it answers at once.
func serveMCP(in io.Reader, out io.Writer, forms string) error {
	call := json.RawMessage{}
	send := func(m mcpMessage) error {
		m.JSONRPC = "2.0"
		return json.NewEncoder(out).Encode(m)
	}
	answer := func(id json.RawMessage, result any) error {
		data, err := json.Marshal(result)
		if err != nil {
			return err
		}
		return send(mcpMessage{ID: id, Result: data})
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m mcpMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		var err error
		switch m.Method {
		case "initialize":
			var p struct{ ProtocolVersion string }
			_ = json.Unmarshal(m.Params, &p)
			err = answer(m.ID, map[string]any{"protocolVersion": p.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "forms", "version": "1"}})
		case "tools/list":
			err = answer(m.ID, map[string]any{"tools": []any{map[string]any{"name": "ask", "description": "asks",
				"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"form": map[string]any{"type": "string"}}}}}})
		case "tools/call":
			call = m.ID
			var p struct{ Arguments struct{ Form string } }
			_ = json.Unmarshal(m.Params, &p)
			data, readErr := os.ReadFile(forms)
			if readErr != nil {
				return readErr
			}
			all := map[string]json.RawMessage{}
			if err := json.Unmarshal(data, &all); err != nil {
				return err
			}
			if form := all[p.Arguments.Form]; form != nil {
				err = send(mcpMessage{ID: json.RawMessage(`"elicit"`), Method: "elicitation/create", Params: form})
			} else {
				err = answer(call, toolSays("no form"))
			}
		case "":
			text := string(m.Result)
			if m.Error != nil {
				text = fmt.Sprint(m.Error)
			}
			err = answer(call, toolSays("elicited "+text))
		default:
			if len(m.ID) > 0 {
				err = send(mcpMessage{ID: m.ID, Error: map[string]any{"code": -32601, "message": "no such method"}})
			}
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}

// toolSays is the result of a call of a tool.
func toolSays(text string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
}

// asksForms lets an MCP server of the world's project ask what forms has by name.
func (w *world) asksForms(forms map[string]any) {
	w.t.Helper()
	self, file := w.mcpServer(forms)
	data, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"forms": map[string]any{
		"command": self, "args": []string{"-test.run=^$"}, "env": map[string]string{mcpEnv: file, binariesEnv: binaries}}}})
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, ".mcp.json"), data, 0o600))
	w.userSets(map[string]any{"enableAllProjectMcpServers": true,
		"permissions": map[string]any{"defaultMode": "default", "allow": []string{"mcp__forms"}}})
}

// mcpServer returns the program of the MCP server, and the file of its forms.
func (w *world) mcpServer(forms map[string]any) (self, file string) {
	w.t.Helper()
	data, err := json.Marshal(forms)
	require.NoError(w.t, err)
	file = filepath.Join(w.t.TempDir(), "forms.json")
	require.NoError(w.t, os.WriteFile(file, data, 0o600))
	self, err = os.Executable()
	require.NoError(w.t, err)
	return self, file
}
