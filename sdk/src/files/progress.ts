/** Called after each part of a file. An upload that is repeated begins again at 0. */
export type ProgressListener = (progress: Progress) => void;

/** How much of a file has been sent or read. */
export interface Progress {
  /** Bytes of the file so far. */
  loaded: number;
  /** Bytes of the whole file, if they are known. */
  total: number | undefined;
}

/** The place of a file in a body, in bytes. */
export interface Section {
  start: number;
  /** Undefined: unknown. */
  size: number | undefined;
}

/** @returns a function that takes the bytes of the body so far, and reports those of the file when they have changed */
export function reporter({ start, size }: Section, onProgress: ProgressListener): (bytes: number) => void {
  let reported = 0;
  return (bytes) => {
    const loaded = Math.min(Math.max(0, bytes - start), size ?? Number.POSITIVE_INFINITY);
    if (loaded === reported) return;
    reported = loaded;
    onProgress({ loaded, total: size });
  };
}

/** Reports the bytes of a file that a stream delivers. Reads no further than its reader. */
export function counted(
  stream: ReadableStream<Uint8Array>,
  file: Section,
  onProgress: ProgressListener,
): ReadableStream<Uint8Array> {
  const report = reporter(file, onProgress);
  let bytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      report(bytes);
      controller.enqueue(chunk);
    },
  });
  return stream.pipeThrough(count);
}
