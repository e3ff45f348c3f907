package wire

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quote is the first character of a quoted byte; its two hexadecimal digits follow. Names of files
// have no NUL.
const quote = '\x00'

// marshal encodes the body of an envelope. A string that is not UTF-8, such as the name of a file,
// does not exist in JSON: if there is one, all strings of the body are quoted.
func marshal(v any) (body json.RawMessage, quoted bool, err error) {
	if quoted = needsQuotes(v); quoted {
		v = mapText(reflect.ValueOf(v), quoteText).Interface()
	}
	body, err = json.Marshal(v)
	return body, quoted, err
}

// needsQuotes reports whether a string in v is not UTF-8.
func needsQuotes(v any) bool {
	return anyText(reflect.ValueOf(v), func(s string) bool { return !utf8.ValidString(s) })
}

// unmarshal reads the body of an envelope into the variable that to points to.
func unmarshal(body json.RawMessage, quoted bool, to any) error {
	if err := checkLists(body); err != nil {
		return err
	}
	err := json.Unmarshal(body, to)
	if quoted {
		unquote(to)
	}
	return err
}

// maxEntries is the number of entries of all lists in a body. An entry of two bytes may take a
// thousand in memory.
const maxEntries = 1 << 16

// errEntries is returned for a body with more than maxEntries.
var errEntries = fmt.Errorf("more than %d entries of lists", maxEntries)

// checkLists returns errEntries before such a body takes memory. Other faults are the decoder's.
func checkLists(body []byte) error {
	entries, text := 0, false
	var lists []bool // of the open brackets, whether it is one of a list
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case text:
			if c == '\\' {
				i++
			}
			text = c != '"'
		case c == '"':
			text = true
		case c == '[', c == '{':
			lists = append(lists, c == '[')
		case (c == ']' || c == '}') && len(lists) > 0:
			lists = lists[:len(lists)-1]
		case c == ',' && len(lists) > 0 && lists[len(lists)-1]:
			if entries++; entries >= maxEntries {
				return errEntries
			}
		}
	}
	return nil
}

// unquote restores the strings of the variable that to points to.
func unquote(to any) {
	v := reflect.ValueOf(to).Elem()
	v.Set(mapText(v, unquoteText))
}

func quoteText(s string) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, quote) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == quote || r == utf8.RuneError && n == 1 {
			b.WriteString(string(quote) + strconv.FormatUint(0x100+uint64(s[0]), 16)[1:])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func unquoteText(s string) string {
	parts := strings.Split(s, string(quote))
	for i, part := range parts[1:] {
		if c, err := strconv.ParseUint(part[:min(len(part), 2)], 16, 8); err == nil && len(part) > 1 {
			parts[i+1] = string([]byte{byte(c)}) + part[2:]
		}
	}
	return strings.Join(parts, "")
}

// writesItself reports whether a type has its own form in JSON, which is text.
func writesItself(of reflect.Type) bool {
	return of == reflect.TypeFor[json.RawMessage]() || of.Implements(reflect.TypeFor[json.Marshaler]()) ||
		of.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// anyText reports whether a string in v fits.
func anyText(v reflect.Value, fits func(string) bool) bool {
	if !v.IsValid() || writesItself(v.Type()) {
		return false
	}
	switch v.Kind() {
	case reflect.String:
		return fits(v.String())
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && anyText(v.Elem(), fits)
	case reflect.Slice, reflect.Array:
		for i := range textLen(v) {
			if anyText(v.Index(i), fits) {
				return true
			}
		}
	case reflect.Map:
		for k, e := range v.Seq2() {
			if anyText(k, fits) || anyText(e, fits) {
				return true
			}
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if anyText(f, fits) {
				return true
			}
		}
	}
	return false
}

// mapText returns a copy of v in which each string is changed.
func mapText(v reflect.Value, change func(string) string) reflect.Value {
	if !v.IsValid() || writesItself(v.Type()) {
		return v
	}
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	switch v.Kind() {
	case reflect.String:
		to.SetString(change(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			to.Set(reflect.New(v.Type().Elem()))
			to.Elem().Set(mapText(v.Elem(), change))
		}
	case reflect.Interface:
		if !v.IsNil() {
			to.Set(mapText(v.Elem(), change))
		}
	case reflect.Slice:
		if textLen(v) > 0 {
			to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			mapElements(v, to, change)
		}
	case reflect.Array:
		mapElements(v, to, change)
	case reflect.Map:
		if !v.IsNil() {
			to.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for k, e := range v.Seq2() {
			to.SetMapIndex(mapText(k, change), mapText(e, change))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			to.Field(i).Set(mapText(v.Field(i), change))
		}
	}
	return to
}

// textLen returns the number of elements that may have text. Bytes have none.
func textLen(v reflect.Value) int {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return 0
	}
	return v.Len()
}

func mapElements(v, to reflect.Value, change func(string) string) {
	for i := range v.Len() {
		to.Index(i).Set(mapText(v.Index(i), change))
	}
}
