package naming

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
)

type one struct {
	id, name string
	former   []string
	over     bool
}

func (o one) named() Named {
	return Named{ID: uuid.MustParse(o.id), Name: o.name, Former: o.former, Other: []uuid.UUID{uuid.NewSHA1(uuid.Nil, []byte(o.id))}}
}

// Ids of one millisecond: only their ends tell them apart.
const (
	clock = "019cb8f0-1111-7000-8000-"
	idA   = clock + "00000000aaaa"
	idB   = clock + "0000bbbbbbbb"
	idC   = clock + "00001111bbbb"
	idD   = clock + "00000000dddd"
	idE   = clock + "00000000eeee"
)

func TestFind(t *testing.T) {
	api, apis, web := one{id: idA, name: "api"}, one{id: idB, name: "apis"}, one{id: idC, name: "web"}
	oldAPI, upper := one{id: idD, name: "api", over: true}, one{id: idE, name: "API"}
	apple := one{id: idD, name: "apple", over: true}
	fix, renamed := one{id: idD, name: "fix-login"}, one{id: idD, name: "new", former: []string{"older", "old"}}
	other := uuid.NewSHA1(uuid.Nil, []byte(idC)).String()
	for _, tt := range []struct {
		name, text string
		list, want []one
	}{
		{"a name", "api", []one{api, apis, web}, []one{api}},
		{"in other letters", "WEB", []one{api, web}, []one{web}},
		{"the very letters count", "api", []one{api, upper}, []one{api}},
		{"in letters of neither", "Api", []one{api, upper}, []one{api, upper}},
		{"what fits goes before what is over", "api", []one{oldAPI, api}, []one{api}},
		{"what fits goes before the very letters", "api", []one{oldAPI, upper}, []one{upper}},
		{"what is over is meant all the same", "api", []one{oldAPI, web}, []one{oldAPI}},
		{"a name in full that is over, before one that begins so", "api", []one{oldAPI, apis}, []one{oldAPI}},
		{"the beginning of a name", "We", []one{api, apis, web}, []one{web}},
		{"the beginning of several", "ap", []one{api, apis, web}, []one{api, apis}},
		{"the beginning of one that fits", "app", []one{apple, web}, []one{apple}},
		{"of several that fits", "a", []one{api, apple}, []one{api}},
		{"an id", idB, []one{api, apis, web}, []one{apis}},
		{"an id in capital letters", "019CB8F0-1111-7000-8000-0000BBBBBBBB", []one{api, apis}, []one{apis}},
		{"the end of an id", ShortID(uuid.MustParse(idC)), []one{api, apis, web}, []one{web}},
		{"a few letters of the end", "AAAA", []one{api, apis, web}, []one{api}},
		{"the end of two ids", "bbbb", []one{api, apis, web}, []one{apis, web}},
		{"too few letters", "bbb", []one{api, apis, web}, nil},
		{"the clock that all share", "019cb8f0-1111", []one{api, apis, web}, nil},
		{"a name before the end of an id", "aaaa", []one{api, {id: idE, name: "aaaa"}}, []one{{id: idE, name: "aaaa"}}},
		{"another id", other, []one{api, apis, web}, []one{web}},
		{"nil is nobody's", uuid.Nil.String(), []one{api, web}, nil},
		{"nothing like it", "none", []one{api, web}, nil},
		{"nothing", "", []one{api, web}, nil},
		{"blanks", " ", []one{api, web}, nil},
		{"blanks for what stands for them", "fix login", []one{api, fix}, []one{fix}},
		{"a former name", "Old", []one{renamed, web}, []one{renamed}},
		{"a name before another's former one", "old", []one{renamed, {id: idE, name: "old"}}, []one{{id: idE, name: "old"}}},
		{"a former name and the beginning of another's name", "old", []one{renamed, {id: idE, name: "old-2"}}, []one{renamed, {id: idE, name: "old-2"}}},
		{"a former name of two", "old", []one{renamed, {id: idE, name: "x", former: []string{"old"}}}, []one{renamed, {id: idE, name: "x", former: []string{"old"}}}},
		{"the beginning of a former name", "ol", []one{renamed, web}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Find(tt.list, tt.text, one.named, func(o one) bool { return !o.over })
			assert.ElementsMatch(t, tt.want, got)
		})
	}
}

func TestSimultaneousShortIDsDiffer(t *testing.T) {
	assert.NotEqual(t, ShortID(uuid.MustParse(idA)), ShortID(uuid.MustParse(idB)))
	assert.Equal(t, "bbbbbbbb", ShortID(uuid.MustParse(idB)))
}
