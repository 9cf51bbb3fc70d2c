import { serveWork } from '../workers/worker-script.js';
import { closedPage } from '../../lib/docx/index.js';

serveWork(closedPage);
