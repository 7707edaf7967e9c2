"""JUnit files held to the schema that collectors share (tests/data/junit.xsd), and their counts to their cases.

  junit.py FILE.xml...            each of them
  junit.py --break FOLDER FILE    writes files with one mistake each into FOLDER and refuses every one of them; what is wrong by the schema is
                                  named schema-*, what only does not add up is named count-*
"""
import re
import sys
import xml.etree.ElementTree as ET

COUNT, SECONDS, SOME, TEXT = r"\+?0*\d{1,9}", r"\d+(\.\d{0,3})?", r"(?s)\s*\S.*", r"(?s).*"
MOMENT = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d"
# Of each element its children in their order, with how many there may be, its attributes (those that it must have with
# a star), and whether it has text.
SCHEMA = {
    "testsuites": ([("testsuite", 0, None)], {}, False),
    "testsuite": ([("properties", 1, 1), ("testcase", 0, None), ("system-out", 1, 1), ("system-err", 1, 1)],
                  {"name*": SOME, "timestamp*": MOMENT, "hostname*": SOME, "tests*": COUNT, "failures*": COUNT, "errors*": COUNT, "skipped": COUNT,
                   "time*": SECONDS, "package*": TEXT, "id*": r"[-+]?\d{1,9}"}, False),
    "properties": ([("property", 0, None)], {}, False),
    "property": ([], {"name*": SOME, "value*": TEXT}, False),
    "testcase": ([("skipped|error|failure", 0, 1)], {"name*": TEXT, "classname*": TEXT, "time*": SECONDS}, False),
    "failure": ([], {"message": TEXT, "type*": TEXT}, True),
    "error": ([], {"message": TEXT, "type*": TEXT}, True),
    "skipped": ([], {"message": TEXT}, True),
    "system-out": ([], {}, True),
    "system-err": ([], {}, True),
}


class Wrong(Exception):
    pass


def demand(truth, *what):
    if not truth:
        raise Wrong(" ".join(map(str, what)))


def hold(element):
    demand(element.tag in SCHEMA, element.tag, "is none of JUnit")
    children, attributes, text = SCHEMA[element.tag]
    for name, form in attributes.items():
        value = element.get(name.rstrip("*"))
        demand(value is not None or not name.endswith("*"), element.tag, "without", name)
        demand(value is None or re.fullmatch(form, value), element.tag, name, "is", repr(value))
    known = {name.rstrip("*") for name in attributes}
    demand(set(element.attrib) <= known, element.tag, "has", set(element.attrib) - known)
    demand(text or not "".join([element.text or ""] + [c.tail or "" for c in element]).strip(), element.tag, "has text")
    left = list(element)
    for names, low, high in children:
        count = 0
        while left and left[0].tag in names.split("|") and (high is None or count < high):
            hold(left.pop(0))
            count += 1
        demand(count >= low, element.tag, "without", names)
    demand(not left, element.tag, "with", [c.tag for c in left])


def add_up(root):
    for at, suite in enumerate(root):
        cases = suite.findall("testcase")
        demand(int(suite.get("id")) == at, "the id is", suite.get("id"))
        for name, key in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            found = len(cases) if key is None else sum(c.find(key) is not None for c in cases)
            demand(int(suite.get(name, 0)) == found, name, "are", found, "of", suite.attrib)


def junit(path):
    root = ET.parse(path).getroot()
    demand(root.tag == "testsuites", "the root is", root.tag)
    hold(root)
    add_up(root)


def mistakes(root):
    """Names of mistakes, and what makes each in a copy of the file."""
    for name in sorted(SCHEMA["testsuite"][1]):
        if name.endswith("*"):
            yield f"schema-no-{name[:-1]}", lambda r, n=name[:-1]: r[0].attrib.pop(n)
    values = (("time", "1e3"), ("time", "0.1234"), ("time", "-1"), ("tests", "many"), ("failures", "-1"), ("errors", "0.5"), ("id", "first"),
                        ("timestamp", "2026-01-01T00:00:00Z"), ("timestamp", "2026-01-01 00:00:00"), ("timestamp", "2026-13-01T00:00:00"), ("hostname", ""),
                        ("name", " "), ("colour", "red"))
    for k, (name, value) in enumerate(values):
        yield f"schema-{k}-{name}", lambda r, n=name, v=value: r[0].set(n, v)
    for name in ("name", "classname", "time"):
        yield f"schema-case-no-{name}", lambda r, n=name: r[0].find("testcase").attrib.pop(n)
    for tag in ("properties", "system-out", "system-err"):
        yield f"schema-without-{tag}", lambda r, t=tag: r[0].remove(r[0].find(t))
        yield f"schema-twice-{tag}", lambda r, t=tag: r[0].append(r[0].find(t))
    yield "schema-order", lambda r: r[0].insert(0, r[0].find("testcase"))
    yield "schema-two-verdicts", lambda r: [ET.SubElement(r[0].find("testcase"), t, type="x") for t in ("failure", "error")]
    yield "schema-failure-no-type", lambda r: ET.SubElement(r[0].findall("testcase")[0], "failure", message="x")
    yield "schema-unknown-element", lambda r: ET.SubElement(r[0].find("testcase"), "passed")
    yield "schema-text", lambda r: setattr(r[0].find("testcase"), "text", "words")
    yield "schema-root", lambda r: setattr(r, "tag", "suites")
    yield "schema-property", lambda r: ET.SubElement(r[0].find("properties"), "property", name="x")
    for name in ("tests", "failures", "errors", "skipped"):
        yield f"count-{name}", lambda r, n=name: r[0].set(n, str(int(r[0].get(n)) + 1))


def break_it(folder, path):
    count = 0
    for name, change in mistakes(ET.parse(path).getroot()):
        tree = ET.parse(path)
        change(tree.getroot())
        broken = f"{folder}/{name}.xml"
        tree.write(broken, encoding="UTF-8", xml_declaration=True)
        try:
            junit(broken)
        except Wrong:
            count += 1
        else:
            sys.exit(f"{broken} passes")
    print(f"{count} mistakes refused")


if __name__ == "__main__":
    if sys.argv[1] == "--break":
        break_it(*sys.argv[2:])
    else:
        for one in sys.argv[1:]:
            try:
                junit(one)
            except (Wrong, ET.ParseError) as why:
                sys.exit(f"{one}: {why}")
