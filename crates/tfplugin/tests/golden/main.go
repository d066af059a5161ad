// Writes values as the reference implementation of Terraform's type system encodes them.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// A value, its type, and its two encodings. JSON is left out where there is none, because
// something in the value is unknown. Refined says that an unknown carries refinements, which
// we read and do not write.
type golden struct {
	Name    string          `json:"name"`
	Type    json.RawMessage `json:"type"`
	Msgpack string          `json:"msgpack"`
	JSON    string          `json:"json,omitempty"`
	Refined bool            `json:"refined,omitempty"`
}

var cases []golden

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func add(name string, value cty.Value, ty cty.Type, refined bool) {
	c := golden{
		Name:    name,
		Type:    must(ctyjson.MarshalType(ty)),
		Msgpack: hex.EncodeToString(must(msgpack.Marshal(value, ty))),
		Refined: refined,
	}
	if value.IsWhollyKnown() {
		c.JSON = string(must(ctyjson.Marshal(value, ty)))
	}
	cases = append(cases, c)
}

func plain(name string, value cty.Value) { add(name, value, value.Type(), false) }

// A float that no short decimal equals. Its JSON form is rounded, so it is another value.
func float(name string, value cty.Value) {
	plain(name, value)
	cases[len(cases)-1].JSON = ""
}

func number(text string) cty.Value { return cty.MustParseNumberVal(text) }

func primitives() {
	plain("true", cty.True)
	plain("false", cty.False)
	for _, text := range []string{"", "a", "e\u0301", "日本語", "line\nbreak\ttab \"quoted\" \\ \u0000"} {
		plain(fmt.Sprintf("string %q", text), cty.StringVal(text))
	}
	for _, length := range []int{31, 32, 255, 256, 65536} {
		text := make([]byte, length)
		for i := range text {
			text[i] = byte('a' + i%26)
		}
		plain(fmt.Sprintf("string of %d bytes", length), cty.StringVal(string(text)))
	}
	for _, text := range []string{
		"0", "1", "-1", "127", "128", "-32", "-33", "-128", "-129", "255", "256", "32767", "-32769",
		"65535", "65536", "2147483648", "-2147483649", "4294967296",
		"9223372036854775807", "-9223372036854775808", "9223372036854775808",
		"18446744073709551615", "18446744073709551616", "100000000000000000000",
		"123456789012345678901234567890", "-123456789012345678901234567890",
		"0.5", "-0.25", "1.5", "0.1", "-0.1", "3.14159265358979323846264338327950288419716939937510",
		"1e300", "1e-10", "1e-300", "1.7976931348623157e308", "1e400",
	} {
		plain("number "+text, number(text))
	}
	float("smallest float", cty.NumberVal(new(big.Float).SetMantExp(big.NewFloat(1), -1074)))
	float("a tenth as a float", cty.NumberFloatVal(0.1))
}

func collections() {
	text := cty.StringVal
	plain("empty list", cty.ListValEmpty(cty.String))
	plain("list", cty.ListVal([]cty.Value{text("b"), text("a"), cty.NullVal(cty.String)}))
	plain("list of unknown", cty.ListVal([]cty.Value{text("b"), cty.UnknownVal(cty.String)}))
	long := make([]cty.Value, 20)
	for i := range long {
		long[i] = cty.NumberIntVal(int64(i * i))
	}
	plain("long list", cty.ListVal(long))
	plain("long set", cty.SetVal(long))
	plain("empty set", cty.SetValEmpty(cty.Bool))
	plain("set", cty.SetVal([]cty.Value{text("b"), text("a"), text("b")}))
	plain("set of objects", cty.SetVal([]cty.Value{
		cty.ObjectVal(map[string]cty.Value{"a": number("2")}),
		cty.ObjectVal(map[string]cty.Value{"a": number("1")}),
	}))
	plain("empty map", cty.MapValEmpty(cty.Number))
	plain("map", cty.MapVal(map[string]cty.Value{"b": cty.True, "a": cty.NullVal(cty.Bool), "": cty.False}))
	plain("empty tuple", cty.EmptyTupleVal)
	plain("tuple", cty.TupleVal([]cty.Value{text("a"), number("1.5"), cty.NullVal(cty.Bool)}))
	plain("empty object", cty.EmptyObjectVal)
	plain("object", cty.ObjectVal(map[string]cty.Value{
		"name":  text("n"),
		"ports": cty.ListVal([]cty.Value{number("80"), number("443")}),
		"inner": cty.ObjectVal(map[string]cty.Value{"x": cty.NullVal(cty.List(cty.String))}),
	}))
	many := map[string]cty.Value{}
	for i := 0; i < 17; i++ {
		many[fmt.Sprintf("attribute_%02d", i)] = cty.NumberIntVal(int64(i))
	}
	plain("object of many attributes", cty.ObjectVal(many))
	for _, ty := range []cty.Type{
		cty.Bool, cty.Number, cty.String, cty.List(cty.String), cty.Set(cty.Bool), cty.Map(cty.Number),
		cty.EmptyTuple, cty.EmptyObject, cty.DynamicPseudoType,
	} {
		plain("null "+ty.FriendlyName(), cty.NullVal(ty))
		plain("unknown "+ty.FriendlyName(), cty.UnknownVal(ty))
	}
}

func dynamics() {
	dynamic := func(name string, value cty.Value) {
		add("dynamic "+name, value, cty.DynamicPseudoType, false)
	}
	dynamic("string", cty.StringVal("a"))
	dynamic("number", number("123456789012345678901234567890"))
	dynamic("list", cty.ListVal([]cty.Value{cty.StringVal("a")}))
	dynamic("null string", cty.NullVal(cty.String))
	dynamic("unknown string", cty.UnknownVal(cty.String))
	dynamic("null", cty.NullVal(cty.DynamicPseudoType))
	dynamic("unknown", cty.DynamicVal)
	dynamic("tuple with a null", cty.TupleVal([]cty.Value{cty.NullVal(cty.DynamicPseudoType), cty.True}))
	dynamic("object as written in a configuration", cty.ObjectVal(map[string]cty.Value{
		"list": cty.TupleVal([]cty.Value{cty.StringVal("a"), number("1")}),
		"map":  cty.ObjectVal(map[string]cty.Value{"k": cty.NullVal(cty.DynamicPseudoType)}),
		"late": cty.UnknownVal(cty.Number),
	}))
	object := cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x"), "b": number("1")})
	add("object with a dynamic attribute", object,
		cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType, "b": cty.Number}), false)
}

func refined() {
	add("string with a prefix", cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("c-").NewValue(), cty.String, true)
	add("string that is not null", cty.UnknownVal(cty.String).RefineNotNull(), cty.String, true)
	add("number in a range", cty.UnknownVal(cty.Number).Refine().NumberRangeInclusive(number("1"), number("123456789012345678901234567890")).NewValue(), cty.Number, true)
	add("list of a length", cty.UnknownVal(cty.List(cty.String)).Refine().CollectionLengthLowerBound(2).CollectionLengthUpperBound(300).NewValue(), cty.List(cty.String), true)
	add("refined inside an object", cty.ObjectVal(map[string]cty.Value{
		"a": cty.UnknownVal(cty.String).Refine().StringPrefixFull("https://").NewValue(),
		"b": cty.True,
	}), cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.Bool}), true)
	add("refined inside a dynamic value", cty.UnknownVal(cty.String).RefineNotNull(), cty.DynamicPseudoType, true)
}

func randomType(random *rand.Rand, depth int) cty.Type {
	kinds := 9
	if depth == 0 {
		kinds = 3
	}
	switch random.Intn(kinds) {
	case 0:
		return cty.Bool
	case 1:
		return cty.Number
	case 2:
		return cty.String
	case 3:
		return cty.List(randomType(random, depth-1))
	case 4:
		return cty.Set(randomType(random, depth-1))
	case 5:
		return cty.Map(randomType(random, depth-1))
	case 6:
		elements := make([]cty.Type, random.Intn(4))
		for i := range elements {
			elements[i] = randomType(random, depth-1)
		}
		return cty.Tuple(elements)
	default:
		attributes := map[string]cty.Type{}
		for i := random.Intn(5); i > 0; i-- {
			attributes[fmt.Sprintf("a%d", random.Intn(20))] = randomType(random, depth-1)
		}
		return cty.Object(attributes)
	}
}

func randomValue(random *rand.Rand, ty cty.Type) cty.Value {
	switch random.Intn(12) {
	case 0:
		return cty.NullVal(ty)
	case 1:
		return cty.UnknownVal(ty)
	}
	elements := func(ty cty.Type) []cty.Value {
		values := make([]cty.Value, 1+random.Intn(3))
		for i := range values {
			values[i] = randomValue(random, ty)
		}
		return values
	}
	switch {
	case ty == cty.Bool:
		return cty.BoolVal(random.Intn(2) == 0)
	case ty == cty.Number:
		switch random.Intn(3) {
		case 0:
			return cty.NumberIntVal(random.Int63() >> random.Intn(63))
		case 1:
			return cty.NumberFloatVal(float64(random.Intn(1<<20)) / 1024)
		default:
			return number(fmt.Sprintf("%d.%d", random.Int63(), random.Int63()))
		}
	case ty == cty.String:
		return cty.StringVal(fmt.Sprintf("%x", random.Int63()))
	case ty.IsListType():
		return cty.ListVal(elements(ty.ElementType()))
	case ty.IsSetType():
		return cty.SetVal(elements(ty.ElementType()))
	case ty.IsMapType():
		values := map[string]cty.Value{}
		for _, value := range elements(ty.ElementType()) {
			values[fmt.Sprintf("k%d", random.Intn(100))] = value
		}
		return cty.MapVal(values)
	case ty.IsTupleType():
		values := []cty.Value{}
		for _, element := range ty.TupleElementTypes() {
			values = append(values, randomValue(random, element))
		}
		return cty.TupleVal(values)
	default:
		// Ranging over a map has no fixed order, and the same run must give the same file.
		attributes := ty.AttributeTypes()
		names := slices.Sorted(maps.Keys(attributes))
		values := map[string]cty.Value{}
		for _, name := range names {
			values[name] = randomValue(random, attributes[name])
		}
		return cty.ObjectVal(values)
	}
}

func main() {
	primitives()
	collections()
	dynamics()
	refined()
	random := rand.New(rand.NewSource(6))
	for i := 0; i < 150; i++ {
		ty := randomType(random, 3)
		value := randomValue(random, ty)
		plain(fmt.Sprintf("random %d", i), value)
		if i%5 == 0 {
			add(fmt.Sprintf("random dynamic %d", i), value, cty.DynamicPseudoType, false)
		}
	}
	fmt.Println("[")
	for i, c := range cases {
		line := string(must(json.Marshal(c)))
		if i < len(cases)-1 {
			line += ","
		}
		fmt.Println(line)
	}
	fmt.Println("]")
}
