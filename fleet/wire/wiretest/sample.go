package wiretest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Sample returns a value with a value in each of its fields.
func Sample(name string, of reflect.Type) reflect.Value {
	v := reflect.New(of).Elem()
	switch of {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 5, 4, 10, 0, 0, len(name), time.UTC)))
		return v
	case reflect.TypeFor[uuid.UUID]():
		v.Set(reflect.ValueOf(uuid.NewSHA1(uuid.Nil, []byte(name))))
		return v
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"` + name + `":1}`))
		return v
	}
	switch of.Kind() {
	case reflect.String:
		v.SetString(strings.ToLower(name))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(len(name)))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(len(name)))
	case reflect.Float64:
		v.SetFloat(float64(len(name)) + .5)
	case reflect.Pointer:
		v.Set(reflect.New(of.Elem()))
		v.Elem().Set(Sample(name, of.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, Sample(name, of.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(of))
		v.SetMapIndex(Sample(name, of.Key()), Sample(name, of.Elem()))
	case reflect.Struct:
		for i := range of.NumField() {
			v.Field(i).Set(Sample(of.Field(i).Name, of.Field(i).Type))
		}
	default:
		panic(fmt.Sprintf("%s has the type %s", name, of))
	}
	return v
}
