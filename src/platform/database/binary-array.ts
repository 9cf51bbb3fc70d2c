/** Object id of the built-in type `tsvector` (`pg_type`). */
export const TSVECTOR = 3614;

/** Bytes before the elements: number of dimensions, presence of nulls, type, length and lower bound of the dimension. */
const HEADER = 20;

/**
 * The binary form of an array of one dimension without nulls (`array_recv`), for a parameter of a statement: node-postgres sends a
 * buffer as a binary value. For types whose text form is slow to read.
 * @param elements in the binary form of their type
 */
export function binaryArray(elementType: number, elements: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeInt32BE(1);
  header.writeInt32BE(elementType, 8);
  header.writeInt32BE(elements.length, 12);
  header.writeInt32BE(1, 16);
  const lengths = elements.map(({ length }) => {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeInt32BE(length);
    return bytes;
  });
  return Buffer.concat([header, ...elements.flatMap((element, n) => [lengths[n] as Buffer, element])]);
}
