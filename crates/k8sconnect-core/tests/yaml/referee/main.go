// The referee says what kubectl makes of a YAML text. It writes referee.json, which the Rust tests
// read; see README.md.
package main

import (
	"encoding/json"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// verdict is one case with what the referee made of it: documents, or an error.
type verdict struct {
	Name      string            `json:"name"`
	Yaml      string            `json:"yaml"`
	Documents []json.RawMessage `json:"documents,omitempty"`
	Error     string            `json:"error,omitempty"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "stdin" {
		answerTexts()
		return
	}
	var verdicts []verdict
	for _, c := range allCases() {
		verdicts = append(verdicts, judge(c.name, c.yaml))
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	if err := out.Encode(verdicts); err != nil {
		panic(err)
	}
}

// answerTexts judges a JSON list of texts, for comparisons too large to be checked in.
func answerTexts() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		panic(err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	verdicts := make([]verdict, 0, len(texts))
	for _, text := range texts {
		verdicts = append(verdicts, judge("", text))
	}
	if err := out.Encode(verdicts); err != nil {
		panic(err)
	}
}

func judge(name, text string) verdict {
	v := verdict{Name: name, Yaml: text, Documents: []json.RawMessage{}}
	for _, document := range split(text) {
		answer, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			return verdict{Name: name, Yaml: text, Error: err.Error()}
		}
		if string(answer) != "null" {
			v.Documents = append(v.Documents, answer)
		}
	}
	return v
}

// split cuts a stream where kubectl cuts it: at lines that hold `---` and nothing but a comment.
func split(text string) []string {
	var documents []string
	var current strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		rest, marker := strings.CutPrefix(line, "---")
		rest = strings.TrimSpace(rest)
		if marker && (rest == "" || rest[0] == '#') {
			documents = append(documents, current.String())
			current.Reset()
			continue
		}
		current.WriteString(line)
	}
	return append(documents, current.String())
}
