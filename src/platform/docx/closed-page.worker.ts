import { serveWork } from '../workers/worker-script.js';
import { closedPage } from './closed-page.js';

serveWork(closedPage);
