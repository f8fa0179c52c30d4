package page

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"axiommind/starter/command"
)

// form asks for the parameters of a change. Sending it is the confirmation: it shows all that it sends.
type form struct {
	Operation
	// Back is the address of the page to return to, and Key names this one change.
	Back, Key string
	Values    map[string][]string
	Fault     *Problem
	// all is true if the form may name another scope.
	all bool
}

// Set are the fields that say which item the change is about. They are shown, and not asked for.
func (f *form) Set() []Field {
	return slices.DeleteFunc(slices.Clone(f.Fields), func(x Field) bool { return !x.InPath || len(f.Values[x.Name]) == 0 })
}

// Main and More are the fields that the form shows, and those that it hides at first.
func (f *form) Main() []Field {
	return slices.DeleteFunc(slices.Clone(f.Fields), func(x Field) bool { return f.hides(x) || !f.first(x) })
}

// More are the fields that most changes leave alone.
func (f *form) More() []Field {
	return slices.DeleteFunc(slices.Clone(f.Fields), func(x Field) bool { return f.hides(x) || f.first(x) })
}

// first reports whether the field is one that most changes set.
func (f *form) first(x Field) bool {
	return x.Needed || len(f.Values[x.Name]) > 0 ||
		slices.Contains([]string{"because", "reason", "with", "keep", "content", "text", "session", "query", "cron", "project", "user"}, x.Name)
}

// hides reports whether the form does not ask for the field: it is the item's, or the page's scope.
func (f *form) hides(x Field) bool {
	scope := slices.Contains([]string{"project", "user", "agent"}, x.Name)
	return x.InPath && len(f.Values[x.Name]) > 0 || scope && (f.Scoped || !f.all)
}

// Value is the value of a field. Those of a list are lines.
func (f *form) Value(name string) string { return strings.Join(f.Values[name], "\n") }

// act is a change that a person asked for.
type act struct {
	ID string
	Operation
	Back, Person string
	Values       map[string][]string
	Began        time.Time
	// ended is closed when Took, Answer and Problem are set.
	ended   chan struct{}
	Took    time.Duration
	Answer  any
	Problem *Problem
}

// Ended reports whether the change is done, or failed.
func (a *act) Ended() bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}

// Recent reports whether the change was made within the last minute: its effects may still be under way.
func (a *act) Recent() bool { return time.Since(a.Began) < time.Minute }

// Seconds is how long the change has run.
func (a *act) Seconds() int { return int(time.Since(a.Began).Seconds()) }

// acts are the latest changes, by the keys of their forms.
type acts struct {
	mu    sync.Mutex
	byKey map[string]*act
	order []string
}

// mostActs bounds the changes that are remembered.
const mostActs = 500

// begin returns the change with the key. It is new if the key is. It returns nil if the key is that of another change.
func (a *acts) begin(key string, of act) (*act, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.byKey[key]; known != nil {
		if known.Operation.ID != of.Operation.ID || !reflect.DeepEqual(known.Values, of.Values) {
			return nil, false
		}
		return known, false
	}
	of.ID, of.Began, of.ended = key, time.Now(), make(chan struct{})
	a.byKey[key], a.order = &of, append(a.order, key)
	if len(a.order) > mostActs {
		delete(a.byKey, a.order[0])
		a.order = a.order[1:]
	}
	return &of, true
}

func (a *acts) get(id string) *act {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byKey[id]
}

// operation finds the change that the request is about.
func (p *Pages) operation(w http.ResponseWriter, r *http.Request) (Operation, bool) {
	o, known := p.API.Operation(r.PathValue("operation"))
	if !known || o.Method == http.MethodGet {
		d := p.newData(r, "problem", "No such change")
		d.Problem = &Problem{Status: http.StatusNotFound, Detail: "there is no such change", Next: "GET /openapi.json lists them"}
		p.render(w, r, http.StatusNotFound, d)
		return o, false
	}
	return o, true
}

// ask shows the form of a change.
func (p *Pages) ask(w http.ResponseWriter, r *http.Request) {
	o, known := p.operation(w, r)
	if !known {
		return
	}
	d := p.newData(r, "form", o.Summary)
	d.Form = &form{Operation: o, Back: local(d.Query.Get("back")), Key: rand.Text(), Values: map[string][]string{}, all: p.All}
	for _, f := range o.Fields {
		scope := slices.Contains([]string{"project", "user", "agent"}, f.Name) // The address has that of the page.
		if list := d.Query[f.Name]; len(list) > 0 && !scope {
			d.Form.Values[f.Name] = list
		}
	}
	p.render(w, r, http.StatusOK, d)
}

// patience is how long a form waits for its change before it leads to the page of its progress.
const patience = 1500 * time.Millisecond

// do makes a change. Two forms with one key make one.
func (p *Pages) do(w http.ResponseWriter, r *http.Request) {
	o, known := p.operation(w, r)
	if !known {
		return
	}
	d := p.newData(r, "form", o.Summary)
	values := d.parameters(o, sent(o, r.PostForm))
	person := command.OneLine(cmp.Or(strings.TrimSpace(r.PostFormValue("person")), p.Person), 60)
	p.setCookie(w, r, p.cookie+"_name", url.QueryEscape(person), sessionTime)
	a, fresh := p.acts.begin(cmp.Or(r.PostFormValue("key"), rand.Text()), act{
		Operation: o, Back: local(r.PostFormValue("back")), Person: person, Values: values,
	})
	if fresh {
		go p.run(a)
	}
	if a == nil {
		fault := &Problem{Status: http.StatusConflict, Detail: "This form was sent already, with other values.", Next: "Confirm again to make this change too."}
		d.Form = &form{Operation: o, Back: local(r.PostFormValue("back")), Key: rand.Text(), Values: values, Fault: fault, all: p.All}
		p.render(w, r, fault.Status, d)
		return
	}
	select {
	case <-a.ended:
	case <-time.After(patience):
	case <-r.Context().Done():
	}
	if a.Ended() && a.Problem != nil && a.Problem.Status < http.StatusInternalServerError {
		// The person can correct the form.
		d.Form = &form{Operation: o, Back: a.Back, Key: rand.Text(), Values: values, Fault: a.Problem, all: p.All}
		p.render(w, r, a.Problem.Status, d)
		return
	}
	to := d.Link("done", a.ID)
	if a.Ended() && a.Problem == nil && !o.Shows {
		to = withDone(a.Back, a.ID)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// withDone returns the address of a page that says that the change is done.
func withDone(address, id string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "/"
	}
	q := u.Query()
	q.Set("did", id)
	u.RawQuery = q.Encode()
	return u.String()
}

// sent returns the parameters of the form's fields that have a value.
func sent(o Operation, from url.Values) map[string][]string {
	values := map[string][]string{}
	for _, f := range o.Fields {
		var list []string
		for _, text := range from[f.Name] {
			if f.Kind != "list" {
				list = append(list, strings.ReplaceAll(text, "\r\n", "\n"))
				continue
			}
			for line := range strings.Lines(text) {
				list = append(list, strings.TrimSpace(line))
			}
		}
		if list = slices.DeleteFunc(list, func(s string) bool { return strings.TrimSpace(s) == "" }); len(list) > 0 {
			values[f.Name] = list
		}
	}
	return values
}

// run makes the change. It goes on if the browser leaves.
func (p *Pages) run(a *act) {
	defer close(a.ended)
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	answer, problem := p.API.Ask(ctx, Request{Operation: a.Operation.ID, Parameters: a.Values, By: "page:" + a.Person, Key: a.ID})
	a.Took, a.Answer, a.Problem = time.Since(a.Began), answer.Value, problem
}

// done shows a change: its progress, and then its result.
func (p *Pages) done(w http.ResponseWriter, r *http.Request) {
	d := p.newData(r, "act", "Change")
	if d.Act = p.acts.get(r.PathValue("act")); d.Act == nil {
		d.View, d.Problem = "problem", &Problem{Status: http.StatusNotFound, Detail: "this change is not remembered", Next: "see in the history of the item whether it was made"}
		p.render(w, r, http.StatusNotFound, d)
		return
	}
	d.Title = d.Act.Summary
	p.render(w, r, http.StatusOK, d)
}
