// Makes the errors of each operation a union that its code discriminates. The document has the code of each error as the name of
// an example; the property `error` itself is a string.
const JSON_TYPE = 'application/json';
const PLAIN = 'ErrorResponse';
/** Its `error` is a text for users. */
const UNCODED = 'MailServiceError';
const REFERENCE = '#/components/schemas/';

/** @returns a copy of the document with narrow errors, and the sorted codes of all errors */
export function narrowErrors(openapi) {
  const document = structuredClone(openapi);
  const codes = new Set();
  const narrow = ([status, response]) => {
    const content = response.content?.[JSON_TYPE];
    if (Number.parseInt(status, 10) < 400 || !content?.examples) return;
    const examples = Object.entries(content.examples).map(([code, example]) => [
      code,
      valueOf(document, example),
    ]);
    for (const [code] of examples) codes.add(code);
    content.schema = narrowSchema(document, content.schema, examples);
  };
  // Names of shared responses begin with their status.
  Object.entries(document.components.responses).forEach(narrow);
  for (const item of Object.values(document.paths))
    for (const operation of Object.values(item)) Object.entries(operation.responses ?? {}).forEach(narrow);
  return { document, codes: [...codes].toSorted() };
}

/** @param examples the code and the value of each example */
function narrowSchema(document, schema, examples) {
  const branches = (schema.anyOf ?? [schema]).map((branch) => branch.$ref.slice(REFERENCE.length));
  const special = branches.filter((name) => name !== PLAIN);
  const taken = new Map(special.map((name) => [name, codesOf(document, name, examples)]));
  const rest = examples.map(([code]) => code).filter((code) => ![...taken.values()].flat().includes(code));
  const narrowed = special.map((name) => withCodes(name, name === UNCODED ? [] : taken.get(name)));
  if (branches.includes(PLAIN) && rest.length > 0) narrowed.push(withCodes(PLAIN, rest));
  return narrowed.length === 1 ? narrowed[0] : { anyOf: narrowed };
}

/** The codes of a schema: those that it lists, or those of the examples that have all its properties. */
function codesOf(document, name, examples) {
  if (name === UNCODED) return [];
  const { properties, required } = document.components.schemas[name];
  if (properties.error.enum) return properties.error.enum;
  const isSpecial = required.some((property) => property !== 'error' && property !== 'message');
  return isSpecial
    ? examples.filter(([, value]) => required.every((property) => property in value)).map(([code]) => code)
    : [];
}

function withCodes(name, codes) {
  const reference = { $ref: `${REFERENCE}${name}` };
  if (codes.length === 0) return reference;
  const narrow = {
    type: 'object',
    properties: { error: { type: 'string', enum: codes } },
    required: ['error'],
  };
  return { allOf: [reference, narrow] };
}

function valueOf(document, example) {
  const found = example.$ref ? document.components.examples[example.$ref.split('/').at(-1)] : example;
  return found.value;
}
