import type { paths } from '../generated/api.js';

export type AnyMedia = `${string}/${string}`;

/** The paths that have an operation of this method. */
export type PathsWith<Method extends 'get' | 'post' | 'put'> = {
  [Path in keyof paths]: [NonNullable<paths[Path][Method]>] extends [never] ? never : Path;
}[keyof paths];

/** The paths whose `POST` takes a form with a file. */
export type UploadPath = {
  [Path in PathsWith<'post'>]: NonNullable<paths[Path]['post']> extends {
    requestBody?: { content: { 'multipart/form-data': { file: string } } };
  }
    ? Path
    : never;
}[PathsWith<'post'>];
