// Checks recorded histories of a map for linearizability, with porcupine.
//
//	checker FILE...
//
// A history has one line an operation:
//
//	<client> <operation> <key> <value written> <outcome> <value seen> <call ns> <return ns>
//
// Values are numbers, unique among those written, 0 for none. Keys are independent of each other, so
// each is checked by itself. Exit status: 0 linearizable, 1 not, 2 when it cannot tell.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

type request struct {
	name  string
	key   string
	value int64
}

type answer struct {
	done bool
	seen int64
}

// The state of one key is the value that it holds, 0 when it is absent.
func step(state, input, output interface{}) (bool, interface{}) {
	held, asked, got := state.(int64), input.(request), output.(answer)
	switch asked.name {
	case "find": // answers what it holds
		return got.seen == held, held
	case "insert": // done when the key was absent
		if got.done {
			return held == 0, asked.value
		}
		return held != 0, held
	case "upsert": // always done
		return got.done, asked.value
	case "erase": // done when the key was there
		return got.done == (held != 0), int64(0)
	case "swap": // writes, and answers what was held
		return got.done && got.seen == held, asked.value
	case "take": // erases, and answers what was held
		return got.seen == held, int64(0)
	}
	panic("unknown operation " + asked.name)
}

func partition(history []porcupine.Operation) [][]porcupine.Operation {
	keys := map[string][]porcupine.Operation{}
	for _, operation := range history {
		key := operation.Input.(request).key
		keys[key] = append(keys[key], operation)
	}
	var parts [][]porcupine.Operation
	for _, part := range keys {
		parts = append(parts, part)
	}
	return parts
}

var model = porcupine.Model{
	Partition: partition,
	Init:      func() interface{} { return int64(0) },
	Step:      step,
}

func read(path string) ([]porcupine.Operation, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var history []porcupine.Operation
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var operation porcupine.Operation
		var asked request
		var got answer
		var done int
		_, err := fmt.Sscan(lines.Text(), &operation.ClientId, &asked.name, &asked.key, &asked.value,
			&done, &got.seen, &operation.Call, &operation.Return)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %v", path, len(history)+1, err)
		}
		got.done = done != 0
		operation.Input, operation.Output = asked, got
		history = append(history, operation)
	}
	return history, lines.Err()
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: checker FILE...")
		os.Exit(2)
	}
	status := 0
	for _, path := range os.Args[1:] {
		history, err := read(path)
		if err != nil || len(history) == 0 {
			fmt.Fprintln(os.Stderr, "checker:", path, "holds no history:", err)
			os.Exit(2)
		}
		verdict := porcupine.CheckOperationsTimeout(model, history, time.Minute)
		fmt.Printf("%s: %d operations: %s\n", path, len(history), verdict)
		if verdict == porcupine.Illegal {
			status = 1
		} else if verdict != porcupine.Ok {
			os.Exit(2)
		}
	}
	os.Exit(status)
}
