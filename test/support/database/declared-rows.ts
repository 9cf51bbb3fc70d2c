import ts from 'typescript';

/** A column of a row as TypeScript declares it: the kinds of its values. `any`: values of any kind. */
export interface DeclaredColumn {
  kinds: ReadonlySet<string>;
  isNullable: boolean;
}

/** The columns that the declaration of a statement states; null where the callers read no rows. */
export type DeclaredRow = ReadonlyMap<string, DeclaredColumn> | null;

/**
 * The row types of the statements whose names are literals in their declaration, by these names: of
 * `workspace.statement<Row>('name', ...)` and of `const name: Statement<Row> = workspace.statement('name', ...)`.
 */
export function declaredRows(files: readonly string[]): Map<string, DeclaredRow> {
  const { config } = ts.readConfigFile('tsconfig.json', (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd());
  const program = ts.createProgram({ rootNames: files, options });
  const checker = program.getTypeChecker();
  const rows = new Map<string, DeclaredRow>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isStatement(node.expression)) {
      const [name] = node.arguments;
      if (name && ts.isStringLiteral(name) && name.text !== '') rows.set(name.text, rowOf(checker, node));
    }
    ts.forEachChild(node, visit);
  };
  for (const file of files) visit(program.getSourceFile(file) as ts.SourceFile);
  return rows;
}

const isStatement = (callee: ts.Expression): boolean =>
  ts.isPropertyAccessExpression(callee) &&
  callee.name.text === 'statement' &&
  ts.isIdentifier(callee.expression) &&
  ['directory', 'workspace', 'either', 'mailService'].includes(callee.expression.text);

function rowOf(checker: ts.TypeChecker, call: ts.CallExpression): DeclaredRow {
  const property = checker.getTypeAtLocation(call).getProperty('row');
  const row = property && checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(property, call));
  if (!row || row.flags & (ts.TypeFlags.Never | ts.TypeFlags.Unknown)) return null;
  // Rows that TypeORM turns into entities, by their metadata.
  if (checker.getIndexInfosOfType(row).length > 0) return null;
  const shapes = row.isUnion() ? row.types : [row];
  const columns = new Map<string, DeclaredColumn>();
  for (const shape of shapes)
    for (const column of checker.getPropertiesOfType(shape)) {
      const kinds = kindsOf(checker, checker.getTypeOfSymbolAtLocation(column, call));
      for (const kind of columns.get(column.name)?.kinds ?? []) kinds.add(kind);
      if (shapes.some((other) => !other.getProperty(column.name))) kinds.add('null');
      columns.set(column.name, { kinds, isNullable: kinds.has('null') || kinds.has('any') });
    }
  return columns;
}

/** The kinds of the values of a type, as those of `kindOf` in `described-rows.ts`. */
function kindsOf(checker: ts.TypeChecker, type: ts.Type): Set<string> {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return new Set(['any']);
  if (type.isUnion()) return new Set(type.types.flatMap((part) => [...kindsOf(checker, part)]));
  if (type.flags & ts.TypeFlags.StringLike) return new Set(['string']);
  if (type.flags & ts.TypeFlags.NumberLike) return new Set(['number']);
  if (type.flags & ts.TypeFlags.BooleanLike) return new Set(['boolean']);
  if (type.flags & ts.TypeFlags.Null) return new Set(['null']);
  if (type.flags & ts.TypeFlags.Undefined) return new Set(['undefined']);
  // Brands: `string & { ... }`.
  if (type.isIntersection() && type.types.some((part) => part.flags & ts.TypeFlags.StringLike))
    return new Set(['string']);
  if (checker.isArrayType(type) || checker.isTupleType(type)) return new Set(['array']);
  const name = type.symbol?.name;
  return new Set([name === 'Date' || name === 'Buffer' ? name : 'object']);
}
