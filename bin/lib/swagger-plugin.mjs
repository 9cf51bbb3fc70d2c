// The compiler plugin of @nestjs/swagger, with two corrections:
// - Projects build in any directory. TypeScript writes types of other files as `import("/home/jos\u00E9/...")`; the plugin takes
//   the escape for part of the path and emits imports that do not resolve.
// - Equal sources give equal documents. TypeScript orders a union by the first use of its members, which differs between a full
//   and an incremental build; the values of enumerations are sorted.
import { before as swagger } from '@nestjs/swagger/plugin';
import ts from 'typescript';

/** Called by the Nest CLI: nest-cli.json names this file. */
export function before(options, program) {
  const transformer = swagger(options, withPlainPaths(program));
  return (context) => {
    const transform = transformer(context);
    return (file) => {
      const transformed = transform(file);
      return transformed === file ? file : sortEnumerations(transformed, context);
    };
  };
}

/** The same program, whose type checker writes paths without escapes. */
function withPlainPaths(program) {
  const checker = program.getTypeChecker();
  const plain = Object.create(checker, {
    typeToString: {
      value: (...args) => checker.typeToString(...args).replaceAll(/import\("[^"]*"/g, unescape),
    },
  });
  return Object.create(program, { getTypeChecker: { value: () => plain } });
}

function unescape(reference) {
  return reference.replaceAll(/\\u([0-9A-Fa-f]{4})/g, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Sorts `enum: ["b", "a"]` in the code that the plugin has added, which has no place in the source. */
function sortEnumerations(file, context) {
  const visit = (node) => {
    const values = node.initializer?.elements;
    const added = ts.isPropertyAssignment(node) && node.pos < 0 && node.name.text === 'enum';
    if (added && values?.every(ts.isStringLiteral)) {
      const sorted = values.toSorted((a, b) => (a.text < b.text ? -1 : 1));
      return ts.factory.createPropertyAssignment('enum', ts.factory.createArrayLiteralExpression(sorted));
    }
    return ts.visitEachChild(node, visit, context);
  };
  return ts.visitNode(file, visit);
}
