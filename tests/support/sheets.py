"""COSMOS definitions and electronic data sheets (SEDS) as `orrery icd` writes them. Each reader refuses what the format's own rules refuse, takes
telemetry apart and puts commands together by nothing but what stands in the document. By itself: checks the files it is given."""
import re
import shlex
import struct
import sys
import xml.etree.ElementTree as ET


class Wrong(Exception):
    pass


def demand(truth, *what):
    if not truth:
        raise Wrong(" ".join(map(str, what)))


class Field:
    """A number in a packet; `fixed` is what it always is."""

    def __init__(self, name, bits, kind, little, fixed=None, low=None, high=None):
        demand(bits % 8 == 0 or not little, name, "has an order of bytes")
        demand(kind != "FLOAT" or bits in (32, 64), name, "is no number of IEEE 754")
        self.name, self.bits, self.kind, self.little, self.fixed, self.low, self.high = name, bits, kind, little, fixed, low, high

    def read(self, chunk):
        if self.bits % 8:
            return int(chunk, 2)
        raw = int(chunk, 2).to_bytes(self.bits // 8, "little" if self.little else "big")
        return struct.unpack(">d", raw)[0] if self.kind == "FLOAT" else int.from_bytes(raw, "big", signed=self.kind == "INT")

    def write(self, value):
        demand(self.fixed is None or value == self.fixed, self.name, "is always", self.fixed)
        demand((self.low is None or value >= self.low) and (self.high is None or value <= self.high), self.name, "may not be", value)
        raw = struct.unpack(">Q", struct.pack(">d", value))[0] if self.kind == "FLOAT" else value % (1 << self.bits)
        if self.little:
            raw = int.from_bytes(raw.to_bytes(self.bits // 8, "little"), "big")
        return format(raw, "0%db" % self.bits)


class Document:
    """packets and commands: {name: [Field]}, told apart by fields with `tests`: {name: {field: value}}."""

    def __init__(self):
        self.packets, self.commands, self.tests = {}, {}, {}

    def judge(self):
        for kind in (self.packets, self.commands):
            for name, fields in kind.items():
                at = 0
                for f in fields:
                    demand(at % 8 == 0 or f.bits % 8 or not f.little, name, f.name, "begins within a byte")
                    at += f.bits
                demand(at % 8 == 0, name, "is not of whole bytes")
                demand(len({f.name for f in fields}) == len(fields), name, "has two of one name")
                for other in kind:
                    demand(other == name or any(self.tests[other].get(f, v) != v for f, v in self.tests[name].items()), name, other, "look the same")

    def bits(self, name):
        return sum(f.bits for f in self.packets.get(name) or self.commands[name])

    def packet(self, packet):
        bits = "".join(format(b, "08b") for b in packet)
        found = []
        for name, fields in self.packets.items():
            if self.bits(name) != len(bits):
                continue
            at, out = 0, {}
            for f in fields:
                out[f.name], at = f.read(bits[at : at + f.bits]), at + f.bits
            if all(out[f] == v for f, v in self.tests[name].items()):
                found.append((name, out))
        demand(len(found) == 1, "packets that fit:", [n for n, _ in found])
        return found[0]

    def command(self, name, values):
        demand(set(values) <= {f.name for f in self.commands[name]}, name, "has no", set(values) - {f.name for f in self.commands[name]})
        bits = "".join(f.write(values.get(f.name, self.tests[name].get(f.name, f.fixed if f.fixed is not None else 0))) for f in self.commands[name])
        return int(bits, 2).to_bytes(len(bits) // 8, "big")


class Cosmos(Document):
    def __init__(self, text):
        super().__init__()
        here = None
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            demand(words[0] not in ("TELEMETRY", "COMMAND") or line[0] != " ", "a packet within another:", line)
            if words[0] in ("TELEMETRY", "COMMAND"):
                _, target, name, endian, _says = words
                demand(re.fullmatch("[A-Z0-9_]+", target + name) and "__" not in name and name[-1] != "_", "a name:", name)
                demand(endian in ("BIG_ENDIAN", "LITTLE_ENDIAN"), endian)
                kind = self.packets if words[0] == "TELEMETRY" else self.commands
                demand(name not in kind, "two packets", name)
                here, self.tests[name] = kind.setdefault(name, []), {}
                is_command = words[0] == "COMMAND"
                last = name
            elif words[0] == "UNITS":
                demand(len(words) == 3 and here, line)
            else:
                form = re.fullmatch("APPEND_(ID_)?(ITEM|PARAMETER)", words[0])
                demand(form and (form[2] == "PARAMETER") == is_command, line)
                item, bits, kind, *rest = words[1:]
                demand(re.fullmatch("[A-Z0-9_]+", item) and "__" not in item and item[-1] != "_", "a name:", item)
                demand(kind in ("INT", "UINT", "FLOAT"), kind)
                demand(rest[-1] in ("BIG_ENDIAN", "LITTLE_ENDIAN") and len(rest) == (5 if is_command else 3 if form[1] else 2), line)
                low = high = fixed = None
                if is_command:
                    number = lambda w: None if w in ("MIN", "MAX") else float(w) if kind == "FLOAT" else int(w)
                    low, high, default = (number(w) for w in rest[:3])
                    demand((low is None or low <= default) and (high is None or default <= high), line)
                    fixed = default if low == high is not None else None
                if form[1]:
                    self.tests[last][item] = int(rest[2] if is_command else rest[0])
                here.append(Field(item, int(bits), kind, rest[-1] == "LITTLE_ENDIAN", fixed, low, high))
        demand(self.packets or self.commands, "nothing in it")
        self.judge()


NS = "{http://www.ccsds.org/schema/sois/seds}"
# Of an element: attributes it must have, those it may have, its children in order.
SEDS = {
    "PackageFile": ("", "", "Package "),
    "Package": ("name", "shortDescription", "DataTypeSet "),
    "DataTypeSet": ("", "", "((Integer|Float|Boolean|Container)DataType )+"),
    "IntegerDataType": ("name", "shortDescription", "IntegerDataEncoding Range "),
    "FloatDataType": ("name", "shortDescription", "FloatDataEncoding (Range )?"),
    "BooleanDataType": ("name", "shortDescription", "BooleanDataEncoding "),
    "IntegerDataEncoding": ("sizeInBits encoding", "byteOrder", ""),
    "FloatDataEncoding": ("sizeInBits encodingAndPrecision", "byteOrder", ""),
    "BooleanDataEncoding": ("sizeInBits falseValue", "", ""),
    "Range": ("", "", "MinMaxRange "),
    "MinMaxRange": ("rangeType min max", "", ""),
    "ContainerDataType": ("name", "baseType abstract shortDescription", "(ConstraintSet )?EntryList "),
    "ConstraintSet": ("", "", "(ValueConstraint )+"),
    "ValueConstraint": ("entry value", "", ""),
    "EntryList": ("", "", "((FixedValue|Length)?Entry )+"),
    "Entry": ("name type", "shortDescription", ""),
    "FixedValueEntry": ("name type fixedValue", "shortDescription", ""),
    "LengthEntry": ("name type", "shortDescription", "PolynomialCalibrator "),
    "PolynomialCalibrator": ("", "", "(Term )+"),
    "Term": ("coefficient exponent", "", ""),
}
SEDS_VALUES = {
    "name": "[A-Za-z][A-Za-z0-9_]*", "encoding": "unsigned|twosComplement", "byteOrder": "bigEndian|littleEndian", "sizeInBits": r"[1-9]\d*",
    "encodingAndPrecision": "IEEE754_2008_double|IEEE754_2008_single", "falseValue": "zeroIsFalse|nonZeroIsFalse", "rangeType": "inclusiveMinInclusiveMax",
    "min": r"-?\d+(\.\d+)?([eE][-+]?\d+)?", "max": r"-?\d+(\.\d+)?([eE][-+]?\d+)?", "value": r"\d+", "fixedValue": r"\d+", "abstract": "true|false",
}


class Eds(Document):
    def __init__(self, text):
        super().__init__()
        root = ET.fromstring(text)
        demand(root.tag == NS + "PackageFile", "the root is", root.tag)
        self.check(root)
        types, self.containers = {}, {}
        for t in next(root.iter(NS + "DataTypeSet")):
            demand(t.get("name") not in types and t.get("name") not in self.containers, "two", t.get("name"))
            if t.tag == NS + "ContainerDataType":
                self.containers[t.get("name")] = t
            else:
                types[t.get("name")] = t
        self.types = types
        for name, c in self.containers.items():
            if c.get("abstract") != "true":
                tests = {t.get("entry"): int(t.get("value")) for t in c.iter(NS + "ValueConstraint")}
                fields = self.fields(c)
                demand(set(tests) <= {f.name for f in fields}, name, "is bounded by what it has not")
                tests.update({f.name: f.fixed for f in fields if f.fixed is not None})
                self.tests[name] = tests
                (self.commands if tests["PacketType"] else self.packets)[name] = fields
        self.judge()

    def check(self, element):
        tag = element.tag.replace(NS, "")
        demand(tag in SEDS, tag, "is none of these")
        must, may, children = SEDS[tag]
        demand(set(must.split()) <= set(element.attrib), tag, "has not", must)
        for name, value in element.attrib.items():
            demand(name in (must + " " + may).split(), tag, "has", name)
            demand(re.fullmatch(SEDS_VALUES.get(name, ".+"), value), tag, name, value)
        demand(re.fullmatch(children, "".join(c.tag.replace(NS, "") + " " for c in element)), tag, "holds", [c.tag for c in element])
        for child in element:
            self.check(child)

    def fields(self, container):
        out = self.fields(self.get(self.containers, container.get("baseType"))) if container.get("baseType") else []
        return out + [self.field(e) for e in container.find(NS + "EntryList")]

    @staticmethod
    def get(things, name):
        demand(name in things, name, "refers to nothing")
        return things[name]

    def field(self, entry):
        t = self.get(self.types, entry.get("type"))
        encoding, limits = t[0], t.find(NS + "Range/" + NS + "MinMaxRange")
        kind = "FLOAT" if "Float" in encoding.tag else "INT" if encoding.get("encoding") == "twosComplement" else "UINT"
        convert = float if kind == "FLOAT" else int
        low, high = (None, None) if limits is None else (convert(limits.get("min")), convert(limits.get("max")))
        fixed = int(entry.get("fixedValue")) if entry.get("fixedValue") else None
        return Field(entry.get("name"), int(encoding.get("sizeInBits")), kind, encoding.get("byteOrder") == "littleEndian", fixed, low, high)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        text = open(path, encoding="utf-8").read()
        try:
            (Eds if text.startswith("<?xml") else Cosmos)(text)
        except (Wrong, ET.ParseError) as wrong:
            sys.exit("%s: %s" % (path, wrong))
