package task_test

import (
	"fmt"

	"axiommind/activities/task"
)

// A task is identified by its project and its title, and its id is derived from that key.
func ExampleKeyOfTask() {
	one, _ := task.KeyOfTask("shop", "Backfill the refunds")
	two, _ := task.KeyOfTask("shop", "backfill  the refunds.")
	other, _ := task.KeyOfTask("office", "Backfill the refunds")
	fmt.Println(one)
	fmt.Println(one.ID() == two.ID(), one.ID() == other.ID())
	_, err := task.KeyOfTask("shop", " ")
	fmt.Println(err != nil)
	// Output:
	// task:shop:backfill the refunds
	// true false
	// true
}
