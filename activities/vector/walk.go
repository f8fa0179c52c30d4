package vector

import (
	"context"
	"fmt"

	"axiommind/schema"
)

// walkPage is how many objects are read at once.
const walkPage = 500

// Walk calls f with the texts of all objects of all collections, also of generations that are not in use. It says which class they
// are of, and the id of the item.
func (c *Client) Walk(ctx context.Context, f func(class, itemID, text string)) error {
	classes, err := c.classes(ctx)
	if err != nil {
		return err
	}
	for _, class := range classes {
		if _, n := schema.SplitGeneration(class.Class); n == 0 {
			continue
		}
		tenants, err := c.Tenants(ctx, class.Class)
		if err != nil {
			return err
		}
		for _, tenant := range tenants {
			for after := ""; ; {
				items, err := c.contents(ctx, class.Class, fmt.Sprintf(`tenant:%s,limit:%d,after:%s`, quote(tenant), walkPage, quote(after)),
					contents+" _additional{id}")
				if err != nil {
					return err
				}
				for _, item := range items {
					f(class.Class, item.ItemID, item.Title+"\n"+item.Content)
				}
				if len(items) < walkPage {
					break
				}
				after = items[len(items)-1].Additional.ID
			}
		}
	}
	return nil
}
