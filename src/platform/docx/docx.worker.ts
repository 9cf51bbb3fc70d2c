import { serveWork } from '../workers/worker-script.js';
import { writeDocx } from '../../lib/docx/index.js';

serveWork(writeDocx, (bytes) => [bytes.buffer as ArrayBuffer]);
