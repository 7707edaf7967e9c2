"""XTCE 1.2 as `orrery icd` writes it. A Document refuses what the published schema refuses of such a document, and what does not add up; it takes
telemetry apart and puts commands together by nothing but what stands there. By itself: checks the files it is given."""
import re
import struct
import sys
import xml.etree.ElementTree as ET

NS = "{http://www.omg.org/spec/XTCE/20180204}"
XSI = "{http://www.w3.org/2001/XMLSchema-instance}"

TYPE = "(UnitSet )?{}DataEncoding "
# Of an element (or of one below a certain other): attributes it must have; those it may have; its children, in order.
ELEMENTS = {
    "SpaceSystem": ("name", "shortDescription " + XSI + "schemaLocation", "(TelemetryMetaData )?(CommandMetaData )?"),
    "TelemetryMetaData": ("", "", "(ParameterTypeSet )?(ParameterSet )?(ContainerSet )?"),
    "CommandMetaData": ("", "", "(ParameterTypeSet )?(ParameterSet )?(ArgumentTypeSet )?(MetaCommandSet )?"),
    "ParameterTypeSet": ("", "", "((Integer|Float|Boolean|Binary)ParameterType )+"),
    "ArgumentTypeSet": ("", "", "((Integer|Float|Boolean)ArgumentType )+"),
    "IntegerParameterType": ("name", "signed sizeInBits", TYPE.format("Integer")),
    "FloatParameterType": ("name", "sizeInBits", TYPE.format("Float")),
    "BooleanParameterType": ("name", "", TYPE.format("Integer")),
    "BinaryParameterType": ("name", "", TYPE.format("Binary")),
    "IntegerArgumentType": ("name", "signed sizeInBits", TYPE.format("Integer") + "(ValidRangeSet )?"),
    "FloatArgumentType": ("name", "sizeInBits", TYPE.format("Float") + "(ValidRangeSet )?"),
    "BooleanArgumentType": ("name", "", TYPE.format("Integer")),
    "UnitSet": ("", "", "(Unit )*"),
    "Unit": ("", "", ""),
    "ValidRangeSet": ("", "", "(ValidRange )+"),
    "ValidRange": ("", "minInclusive maxInclusive", ""),
    "IntegerDataEncoding": ("", "sizeInBits encoding byteOrder", ""),
    "FloatDataEncoding": ("", "sizeInBits encoding byteOrder", ""),
    "BinaryDataEncoding": ("", "", "SizeInBits "),
    "SizeInBits": ("", "", "(FixedValue |DynamicValue )"),
    "FixedValue": ("", "", ""),
    "DynamicValue": ("", "", "ParameterInstanceRef (LinearAdjustment )?"),
    "ParameterInstanceRef": ("parameterRef", "", ""),
    "LinearAdjustment": ("", "slope intercept", ""),
    "ParameterSet": ("", "", "(Parameter )+"),
    "Parameter": ("name parameterTypeRef", "shortDescription initialValue", "(ParameterProperties )?"),
    "ParameterProperties": ("", "dataSource", ""),
    "ContainerSet": ("", "", "(SequenceContainer )+"),
    "SequenceContainer": ("name", "abstract shortDescription", "EntryList (BaseContainer )?"),
    "SequenceContainer/EntryList": ("", "", "(ParameterRefEntry )*"),
    "CommandContainer/EntryList": ("", "", "(ParameterRefEntry |ArgumentRefEntry |FixedValueEntry )*"),
    "ParameterRefEntry": ("parameterRef", "", ""),
    "ArgumentRefEntry": ("argumentRef", "", ""),
    "FixedValueEntry": ("binaryValue sizeInBits", "name", ""),
    "BaseContainer": ("containerRef", "", "(RestrictionCriteria )?"),
    "RestrictionCriteria": ("", "", "(Comparison |ComparisonList )"),
    "ComparisonList": ("", "", "(Comparison )+"),
    "Comparison": ("parameterRef value", "", ""),
    "MetaCommandSet": ("", "", "(MetaCommand )+"),
    "MetaCommand": ("name", "shortDescription", "(ArgumentList )?(CommandContainer )?"),
    "ArgumentList": ("", "", "(Argument )+"),
    "Argument": ("name argumentTypeRef", "shortDescription initialValue", ""),
    "CommandContainer": ("name", "", "EntryList (BaseContainer )?"),
}
NUMBER = r"-?\d+(\.\d+)?([eE][-+]?\d+)?"
# What an attribute (or the same of a certain element) and the text of an element may be.
VALUES = {
    "name": r"[^./:\[\] \t\n]+", "shortDescription": ".+", "signed": "true|false", "abstract": "true|false", "sizeInBits": r"[1-9]\d*",
    "FloatDataEncoding/sizeInBits": "16|32|40|48|64|80|128", "FloatParameterType/sizeInBits": "32|64|128", "FloatArgumentType/sizeInBits": "32|64|128",
    "IntegerDataEncoding/encoding": "unsigned|signMagnitude|twosComplement|onesComplement|BCD|packedBCD", "FloatDataEncoding/encoding": "IEEE754_1985|IEEE754",
    "byteOrder": "mostSignificantByteFirst|leastSignificantByteFirst", "binaryValue": "([0-9a-fA-F]{2})*", "slope": NUMBER, "intercept": NUMBER,
    "minInclusive": NUMBER, "maxInclusive": NUMBER, "value": r"\d+", "initialValue": r"-?\d+", "dataSource": "telemetered|derived|constant|local|ground",
    XSI + "schemaLocation": r"(\S+ \S+)( \S+ \S+)*", "Ref": r"[^./:\[\] \t\n]+",
}
TEXTS = {"Unit": ".+", "FixedValue": r"\d+"}


class Wrong(Exception):
    pass


def demand(truth, *what):
    if not truth:
        raise Wrong(" ".join(map(str, what)))


def local(element):
    demand(element.tag.startswith(NS), element.tag, "is of another namespace")
    return element.tag[len(NS) :]


def check_element(element, parent):
    """What the schema says of one element."""
    tag = local(element)
    demand(parent + "/" + tag in ELEMENTS or tag in ELEMENTS, tag, "below", parent)
    must, may, children = ELEMENTS.get(parent + "/" + tag) or ELEMENTS[tag]
    demand(set(must.split()) <= set(element.attrib), tag, "has not", must)
    for name, value in element.attrib.items():
        demand(name in (must + " " + may).split(), tag, "has", name)
        form = VALUES.get(tag + "/" + name) or VALUES.get(name) or VALUES["Ref"]
        demand(re.fullmatch(form, value), tag, name, value)
    named = "".join(local(child) + " " for child in element)
    demand(re.fullmatch(children, named), tag, "holds", named)
    demand(re.fullmatch(TEXTS.get(tag, r"\s*"), element.text or ""), tag, "says", element.text)
    for child in element:
        demand(not (child.tail or "").strip(), tag, "says", child.tail)
        check_element(child, tag)


def by_name(elements, what):
    found = {}
    for element in elements:
        demand(element.get("name") not in found, "two", what, element.get("name"))
        found[element.get("name")] = element
    return found


class Field:
    """How a number lies in a packet. Its size is slope × the number in `length` + bits."""

    def __init__(self, declared):
        encoding = next(e for e in declared if local(e).endswith("DataEncoding"))
        self.kind, self.slope = local(encoding), 0
        self.little = encoding.get("byteOrder") == "leastSignificantByteFirst"
        self.negative = encoding.get("encoding") == "twosComplement"
        if self.kind == "BinaryDataEncoding":
            self.slope, self.bits = size_of(encoding)
            return
        self.bits = int(encoding.get("sizeInBits", 8 if self.kind[0] == "I" else 32))
        value_bits = int(declared.get("sizeInBits", 32))
        demand(self.bits % 8 == 0 or not self.little, declared.get("name"), "has an order of bytes")
        demand(local(declared)[0] == "B" or self.bits <= value_bits, declared.get("name"), "does not hold its code")
        demand(local(declared)[0] != "I" or (declared.get("signed", "true") == "true") == self.negative, declared.get("name"), "signed")

    def read(self, chunk):
        if self.kind == "BinaryDataEncoding":
            return int(chunk or "0", 2).to_bytes(len(chunk) // 8, "big")
        if self.bits % 8:
            return int(chunk, 2)
        raw = int(chunk, 2).to_bytes(self.bits // 8, "little" if self.little else "big")
        return struct.unpack(">d", raw)[0] if self.kind[0] == "F" else int.from_bytes(raw, "big", signed=self.negative)

    def write(self, value):
        raw = value if self.kind[0] == "I" else struct.unpack(">Q", struct.pack(">d", value))[0]
        raw %= 1 << self.bits
        if self.little:
            raw = int.from_bytes(raw.to_bytes(self.bits // 8, "little"), "big")
        return format(raw, "0%db" % self.bits)


def size_of(encoding):
    """(slope, bits)."""
    size = encoding.find(NS + "SizeInBits")[0]
    if local(size) == "FixedValue":
        return 0, int(size.text)
    demand(size[0].get("parameterRef") == "length", "a size by", size[0].get("parameterRef"))
    return int(size[1].get("slope")), int(size[1].get("intercept"))


class Document:
    def __init__(self, text):
        self.root = ET.fromstring(text)
        demand(local(self.root) == "SpaceSystem", "the root is", self.root.tag)
        check_element(self.root, "")
        every = lambda tag: self.root.iter(NS + tag)
        within = lambda tag: (e for s in every(tag) for e in s)
        types, arguments = by_name(within("ParameterTypeSet"), "types"), by_name(within("ArgumentTypeSet"), "argument types")
        self.types = {name: Field(t) for name, t in types.items()}
        self.argument_types = {name: Field(t) for name, t in arguments.items()}
        self.declared = by_name(every("Parameter"), "parameters")
        self.containers = by_name(every("SequenceContainer"), "containers")
        self.commands = by_name(every("MetaCommand"), "commands")
        self.parameters = {n: self.get(self.types, p.get("parameterTypeRef")) for n, p in self.declared.items()}
        for e in every("ParameterRefEntry"):
            self.get(self.parameters, e.get("parameterRef"))
        self.check_use(every)
        self.tests = {name: self.check_container(c) for name, c in self.containers.items()}
        told = [t for name, t in self.tests.items() if self.containers[name].get("abstract") != "true"]
        for i, a in enumerate(told):
            for b in told[:i]:
                demand(any(p in b and a[p] != b[p] for p in a), "two containers for one packet:", a, b)
        for command in self.commands.values():
            self.check_command(command)

    @staticmethod
    def get(things, name):
        demand(name in things, name, "refers to nothing")
        return things[name]

    def check_use(self, every):
        """Nothing is declared in vain."""
        entered = {e.get("parameterRef") for e in every("ParameterRefEntry")}
        demand(set(self.parameters) == entered, "not in a packet:", set(self.parameters) ^ entered)
        demand(set(self.types) == {p.get("parameterTypeRef") for p in every("Parameter")}, "types in vain")
        demand(set(self.argument_types) == {a.get("argumentTypeRef") for a in every("Argument")}, "argument types in vain")

    def entries(self, container, arguments={}):
        """[(name, Field or (bits, fixed value))] of a container or a command, with those of the container it extends in front."""
        found, base = [], container.find(NS + "BaseContainer")
        if base is not None:
            found = self.entries(self.get(self.containers, base.get("containerRef")))
        for e in container.find(NS + "EntryList"):
            if local(e) == "FixedValueEntry":
                bits, value = int(e.get("sizeInBits")), int(e.get("binaryValue"), 16)
                demand(len(e.get("binaryValue")) * 4 >= bits and value < 1 << bits, e.get("name"), "does not fit")
                found.append((e.get("name"), (bits, value)))
            elif local(e) == "ArgumentRefEntry":
                found.append((e.get("argumentRef"), self.get(arguments, e.get("argumentRef"))))
            else:
                found.append((e.get("parameterRef"), self.parameters[e.get("parameterRef")]))
        return found

    @staticmethod
    def check_bits(entries):
        """Whole bytes begin where a byte does, and all are whole bytes; (slope, bits) of the sum."""
        slope = at = 0
        for entry, field in entries:
            bits, more = (field.bits, field.slope) if isinstance(field, Field) else (field[0], 0)
            demand(at % 8 == 0 or not (isinstance(field, Field) and field.little), entry, "begins within a byte")
            at, slope = at + bits, slope + more
        demand(at % 8 == 0 and slope % 8 == 0, "not of whole bytes:", at)
        return slope, at

    def bits(self, name):
        """(slope, bits) of a packet of telemetry or of a command."""
        if name in self.containers:
            return self.check_bits(self.entries(self.containers[name]))
        command = self.get(self.commands, name)
        return self.check_bits(self.entries(command.find(NS + "CommandContainer"), self.arguments(command)))

    def check_container(self, c):
        if c.get("abstract") == "true":
            return {}
        slope, bits = self.check_bits(self.entries(c))
        base = c.find(NS + "BaseContainer")
        demand(base is not None, c.get("name"), "extends nothing")
        before = dict(self.entries(self.containers[base.get("containerRef")]))
        tests = {t.get("parameterRef"): int(t.get("value")) for t in base.iter(NS + "Comparison")}
        for name, value in tests.items():
            demand(value < 1 << self.get(before, name).bits, name, "is never", value)
        demand(tests, c.get("name"), "has no test")
        demand((slope, bits) == ((0, tests["length"] * 8 + 56) if "length" in tests else (8, 56)), c.get("name"), "does not add up to its length")
        return tests

    def arguments(self, command):
        declared = by_name(command.iter(NS + "Argument"), "arguments")
        return {n: self.get(self.argument_types, a.get("argumentTypeRef")) for n, a in declared.items()}

    def check_command(self, command):
        container, arguments = command.find(NS + "CommandContainer"), self.arguments(command)
        entries = self.entries(container, arguments)
        slope, bits = self.check_bits(entries)
        demand(set(arguments) <= {n for n, f in entries}, command.get("name"), "asks for what it does not send")
        demand(len({n for n, f in entries}) == len(entries), command.get("name"), "sends a thing twice")
        demand(slope == 0 and dict(entries)["length"][1] * 8 == bits - 56, command.get("name"), "says another length")

    def packet(self, packet):
        """(the container's name, the numbers) of telemetry."""
        bits = "".join(format(b, "08b") for b in packet)
        read = self.read("primary_header", bits)
        fits = [n for n, tests in self.tests.items() if tests and all(read[p] == v for p, v in tests.items())]
        demand(len(fits) == 1, "containers that fit:", fits)
        return fits[0], self.read(fits[0], bits, whole=True)

    def read(self, name, bits, whole=False):
        at, out = 0, {}
        for entry, field in self.entries(self.containers[name]):
            size = field.bits + field.slope * out.get("length", 0)
            out[entry], at = field.read(bits[at : at + size]), at + size
        demand(not whole or at == len(bits), "every bit has a name, and every name its bits")
        return out

    def command(self, name, values):
        """The packet of a command, whose sums are zero unless given."""
        command = self.get(self.commands, name)
        declared = dict(self.declared, **by_name(command.iter(NS + "Argument"), "arguments"))
        bits = ""
        for entry, field in self.entries(command.find(NS + "CommandContainer"), self.arguments(command)):
            if isinstance(field, Field):
                bits += field.write(values[entry] if entry in values else int(declared[entry].get("initialValue")))
            else:
                bits += format(field[1], "0%db" % field[0])
        return int(bits, 2).to_bytes(len(bits) // 8, "big")

    def crc(self, data):
        """The sum that the document describes, in words: the standard's element is one that readers fail on."""
        says = re.search(r"polynomial 0x(\w+), begins as 0x(\w+), (data and remainder reflected, )?at the end xor 0x(\w+)", self.declared["crc32c"].get("shortDescription"))
        polynomial, rest, final = (int(says[i], 16) for i in (1, 2, 4))
        width, turn = 32, lambda number, bits: int(format(number, "0%db" % bits)[::-1], 2)
        for byte in data:
            rest ^= (turn(byte, 8) if says[3] else byte) << width - 8
            for _ in range(8):
                rest = rest << 1 ^ (polynomial | 1 << width if rest >> width - 1 else 0)
        return (turn(rest, width) if says[3] else rest) ^ final


if __name__ == "__main__":
    for path in sys.argv[1:]:
        try:
            Document(open(path, encoding="utf-8").read())
        except Wrong as wrong:
            sys.exit("%s: %s" % (path, wrong))
