/** Called after each part of a file. */
export type ProgressListener = (progress: Progress) => void;

export interface Progress {
  /** Bytes so far. */
  loaded: number;
  /** Bytes of the whole file, if they are known. */
  total: number | undefined;
}

/** Reports the bytes that a stream delivers. Reads no further than its reader. */
export function counted(
  stream: ReadableStream<Uint8Array>,
  total: number | undefined,
  onProgress: ProgressListener,
): ReadableStream<Uint8Array> {
  let loaded = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      onProgress({ loaded: Math.min(loaded, total ?? loaded), total });
      controller.enqueue(chunk);
    },
  });
  return stream.pipeThrough(count);
}
