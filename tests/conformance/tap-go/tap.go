// Package tap prints results in the Test Anything Protocol. The validation suite of runtime-tools imports a package of this
// name that Debian doesn't have; this is what the suite uses of it, written for these tests.
package tap

import (
	"encoding/json"
	"fmt"
	"strings"
)

// T numbers the test points of one program. The counter is shared with the copies that Todo makes.
type T struct {
	last *int
	todo bool
}

// New makes a counter that stands before the first test point.
func New() *T {
	return &T{last: new(int)}
}

// Header begins the output. A count of 0 leaves the plan to AutoPlan.
func (t *T) Header(count int) {
	fmt.Println("TAP version 13")
	if count > 0 {
		fmt.Printf("1..%d\n", count)
	}
}

// AutoPlan prints the plan when all points are known.
func (t *T) AutoPlan() {
	fmt.Printf("1..%d\n", *t.last)
}

// point prints one test point; directive is empty or begins with a '#'.
func (t *T) point(passed bool, description, directive string) {
	verdict := "ok"
	if !passed {
		verdict = "not ok"
	}
	if directive == "" && t.todo {
		directive = "# TODO"
	}
	*t.last++
	line := fmt.Sprintf("%s %d - %s %s", verdict, *t.last, strings.ReplaceAll(description, "\n", " "), directive)
	fmt.Println(strings.TrimRight(line, " "))
}

// Ok is a point that passes when the condition holds.
func (t *T) Ok(passed bool, description string) {
	t.point(passed, description, "")
}

// Pass is a point that passes.
func (t *T) Pass(description string) {
	t.point(true, description, "")
}

// Fail is a point that fails.
func (t *T) Fail(description string) {
	t.point(false, description, "")
}

// Skip stands for count points that could not be tried.
func (t *T) Skip(count int, reason string) {
	for ; count > 0; count-- {
		t.point(true, "", "# SKIP "+strings.ReplaceAll(reason, "\n", " "))
	}
}

// Todo gives a view of t whose failures are not held against the program.
func (t *T) Todo() *T {
	return &T{last: t.last, todo: true}
}

// Diagnostic prints a remark.
func (t *T) Diagnostic(message string) {
	fmt.Println("# " + strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n# "))
}

// Diagnosticf prints a formatted remark.
func (t *T) Diagnosticf(format string, args ...interface{}) {
	t.Diagnostic(fmt.Sprintf(format, args...))
}

// YAML prints a value that belongs to the last point, as JSON, which is YAML too.
func (t *T) YAML(value interface{}) error {
	text, err := json.MarshalIndent(value, "  ", "  ")
	if err != nil {
		return err
	}
	fmt.Printf("  ---\n  %s\n  ...\n", text)
	return nil
}
