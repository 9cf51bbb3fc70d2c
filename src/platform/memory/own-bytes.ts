/** The bytes of a text in a buffer with its own memory, outside of the heap of V8. */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/**
 * Frees the memory of bytes that are no longer used; the buffer is empty afterwards. V8 itself would free it only at a collection,
 * and collects the whole heap after 32 MB. Bytes that share their memory with others stay unchanged.
 */
export function freeBytes(bytes: Buffer): void {
  const { buffer } = bytes;
  if (bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
