import { Injectable } from '@nestjs/common';

/** Limits of the uploads of this process. */
@Injectable()
export class UploadLimits {
  /** Concurrent uploads of all users. */
  total = 32;
  /** Concurrent uploads of one user. */
  perUser = 8;
  /** Period in which at least `windowBytes` of a body must arrive, milliseconds. */
  windowMs = 10_000;
  windowBytes = 4_096;
  /** Timeout of a whole body, milliseconds. Below the timeout of the server, which closes the connection without a response. */
  totalMs = 110_000;
  /** Time in which the rest of a rejected body is read, milliseconds. */
  lingerMs = 5_000;
}
