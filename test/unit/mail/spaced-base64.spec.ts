import { buffer } from 'node:stream/consumers';
import { Base64Decoder } from '../../../src/mail-service/mime/correction/decoders.js';

test.each(['R3LD\r\n vMO\r\n\r\nfZ Q==\r\n', 'R3LDvMO\r\nfZ Q==', 'R3LDvMOfZ Q=='])(
  'blanks within the last line of base64: %j',
  async (data) => {
    const decoder = new Base64Decoder(true);
    decoder.end(data);
    expect((await buffer(decoder)).toString()).toBe('Grüße');
  },
);
