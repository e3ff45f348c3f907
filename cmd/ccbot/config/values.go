package config

import (
	"errors"
	"strconv"
)

// dollars is an amount of money.
type dollars float64

// UnmarshalText reads the amount; a value that it refuses is never shown.
func (d *dollars) UnmarshalText(text []byte) error {
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(value >= 0 && value < 1e9) { // not NaN
		return errors.New("it is an amount of dollars, like 20 or 7.50")
	}
	*d = dollars(value)
	return nil
}

// yes is 1 or true, 0 or false.
type yes bool

// UnmarshalText reads the value; a value that it refuses is never shown.
func (y *yes) UnmarshalText(text []byte) error {
	value, err := strconv.ParseBool(string(text))
	if err != nil {
		return errors.New("it is 1 or 0")
	}
	*y = yes(value)
	return nil
}
