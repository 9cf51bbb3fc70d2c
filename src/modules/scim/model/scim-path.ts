import type { NextFunction, Request, Response } from 'express';
import { API_PREFIX } from '../../../config/config.js';
import { SCIM_PATH } from './scim-reply.js';

/**
 * Removes needless slashes from the path of a request of SCIM. Administrators paste the base address with a slash at its end, to which
 * identity providers append `/Users`.
 */
export function removeNeedlessSlashes(request: Request, _: Response, next: NextFunction): void {
  if (request.url.startsWith(`/${API_PREFIX}/${SCIM_PATH}/`)) {
    const [path = ''] = request.url.split('?', 1);
    const query = request.url.slice(path.length);
    const clean = path.replaceAll(/\/{2,}/g, '/');
    request.url = (clean.endsWith('/') ? clean.slice(0, -1) : clean) + query;
  }
  next();
}
