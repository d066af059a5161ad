// Judges objects as kstatus does: a JSON list of objects on standard input, a JSON list of
// verdicts on standard output, in the same order.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func main() {
	var items []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&items); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	verdicts := []string{}
	for _, item := range items {
		object := unstructured.Unstructured{}
		if err := object.UnmarshalJSON(item); err != nil {
			verdicts = append(verdicts, "unreadable: "+err.Error())
			continue
		}
		result, err := status.Compute(&object)
		if err != nil {
			verdicts = append(verdicts, "error: "+err.Error())
			continue
		}
		verdicts = append(verdicts, result.Status.String())
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
