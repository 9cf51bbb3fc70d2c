export { DavModule } from './dav.module.js';
export { WELL_KNOWN, DavServer } from './dav.server.js';
export { DAV_PATH } from './model/paths.js';
