package vector

import (
	"context"
	"fmt"

	"axiommind/schema"
)

// walkPage is the number of objects to read at once.
const walkPage = 500

// Walk calls f with the class, the item id and the text of each object of all collections, including generations that
// are not in use.
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
