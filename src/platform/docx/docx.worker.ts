import { serveWork } from '../workers/worker-script.js';
import { writeDocx } from './docx-writer.js';

serveWork(writeDocx, (bytes) => [bytes.buffer as ArrayBuffer]);
