// validate: holds JSON files against a JSON Schema. usage: node validate.mjs SCHEMA FILE...
// Prints the first thing that is wrong of each file; exit code 1 if anything is.
import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";

const [schema, ...files] = process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const validate = new Ajv({ allowUnionTypes: true }).compile(read(schema));
for (const file of files) {
    if (validate(read(file))) continue;
    const { instancePath, message, params } = validate.errors[0];
    console.log(`${file}: ${instancePath} ${message} ${JSON.stringify(params)}`);
    process.exitCode = 1;
}
