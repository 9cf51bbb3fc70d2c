/** The bytes of a text in a memory of their own, outside of the heap of V8. */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/**
 * Frees the memory of bytes that have no further use; they are empty then. V8 frees it at a collection only, and collects the whole
 * heap after 32 MB. Bytes that share their memory with others stay as they are.
 */
export function freeBytes(bytes: Buffer): void {
  const { buffer } = bytes;
  if (bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
