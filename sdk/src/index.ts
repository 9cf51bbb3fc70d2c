export { createClient, type WorkspaceClient, type WorkspaceClientOptions } from './client.js';
export { ApiError, type CodeOf, unwrap } from './errors.js';
export { ifMatch } from './etags.js';
export type { Download, DownloadOptions } from './files/download.js';
export type { Progress, ProgressListener } from './files/progress.js';
export type { Upload, UploadOptions } from './files/upload.js';
export type { components, ErrorCode, paths } from './generated/api.js';
export type { RetryOptions, TokenSource } from './sender.js';
export type { Transport } from './transport.js';
