export { closedPage, type DocxSource, writeDocx } from './writer.js';
