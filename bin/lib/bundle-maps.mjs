// Source maps of a bundle, by module. A map of megabytes takes a quarter of a second to parse and tens of megabytes of memory, and the
// server parses one when it logs a stack. So a map has a section for each module, on a line of its own, and the server reads
// the sections that a stack needs (src/platform/observability/source-positions.ts). Debuggers read them too: ECMA-426 has them as
// index maps.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Uint8Array(128);
for (const [value, digit] of [...DIGITS].entries()) VALUES[digit.charCodeAt(0)] = value;
const [COMMA, SEMICOLON] = [','.charCodeAt(0), ';'.charCodeAt(0)];

/** @param map the text of a source map @returns the text of an index map of the same content, without names and sources */
export function divideMap(map) {
  const { file, sources, mappings } = JSON.parse(map);
  const lines = sectionsOf(mappings).map(({ line, column, source, mappings: own }) =>
    JSON.stringify({
      offset: { line, column },
      map: { version: 3, names: [], sources: [sources[source]], mappings: own },
    }),
  );
  return `{"version":3,"file":${JSON.stringify(file)},"sections":[\n${lines.join(',\n')}\n]}\n`;
}

/** Divides mappings where the source changes. */
function sectionsOf(mappings) {
  const sections = [];
  let current;
  // The fields of a segment are differences to those of the one before.
  let [line, column, source, sourceLine, sourceColumn] = [0, 0, 0, 0, 0];
  let at = 0;
  const readNumber = () => {
    let [value, shift, digit] = [0, 0, 0];
    do {
      digit = VALUES[mappings.charCodeAt(at)];
      at += 1;
      value |= (digit & 31) << shift;
      shift += 5;
    } while (digit & 32);
    return value & 1 ? -(value >> 1) : value >> 1;
  };
  const isInSegment = () => {
    const code = mappings.charCodeAt(at);
    return at < mappings.length && code !== COMMA && code !== SEMICOLON;
  };
  const end = (position) => {
    if (current) current.mappings += mappings.slice(current.from, position).replace(/[,;]+$/, '');
  };
  while (at < mappings.length) {
    const code = mappings.charCodeAt(at);
    if (code === SEMICOLON) [line, column] = [line + 1, 0];
    if (code === SEMICOLON || code === COMMA) {
      at += 1;
      continue;
    }
    const begin = at;
    column += readNumber();
    if (!isInSegment()) continue;
    source += readNumber();
    sourceLine += readNumber();
    sourceColumn += readNumber();
    if (isInSegment()) readNumber();
    if (current?.source === source) continue;
    end(begin);
    const first = [0, 0, sourceLine, sourceColumn].map(toText).join('');
    current = { line, column, source, from: at, mappings: first };
    sections.push(current);
  }
  end(mappings.length);
  return sections;
}

function toText(number) {
  let text = '';
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  do {
    text += DIGITS[(rest & 31) | (rest > 31 ? 32 : 0)];
    rest >>>= 5;
  } while (rest > 0);
  return text;
}
