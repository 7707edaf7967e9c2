// Each FILE against SCHEMA by ajv, parsed by yaml: "good FILE", "bad FILE: why" or "unread FILE: why",
// a line each, and "judged" at the end.
import fs from "node:fs";
import Ajv from "ajv";
import YAML from "yaml";
const [schema, ...files] = process.argv.slice(2);
const validate = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false, allErrors: true })
  .compile(JSON.parse(fs.readFileSync(schema, "utf8")));
for (const file of files) {
  let value;
  try {
    value = YAML.parse(fs.readFileSync(file, "utf8"), { merge: true, maxAliasCount: -1, logLevel: "error" });
  } catch (error) {
    console.log(`unread ${file}: ${error.message.split("\n")[0]}`);
    continue;
  }
  if (validate(value)) console.log(`good ${file}`);
  else
    console.log(`bad ${file}: ${validate.errors.map((e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`).join("; ")}`);
}
fs.writeSync(1, "judged\n");
process.kill(process.pid, "SIGKILL"); // of those that end by themselves some hang (nodejs/node issue 54918)
