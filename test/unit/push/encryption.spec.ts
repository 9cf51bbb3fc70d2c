import { createECDH, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import ece from 'http_ece';
import { encryptMessage, isPublicKey, MAX_MESSAGE_BYTES } from '../../../src/lib/web-push/index.js';
import { runs } from '../../support/property-runs.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

describe('encryption of push messages', () => {
  test('is that of the example of RFC 8291, section 5', () => {
    const ecdh = createECDH('prime256v1');
    ecdh.setPrivateKey(bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'));
    const receiver = {
      publicKey: bytes(
        'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      ),
      authSecret: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
    };
    const sender = { ecdh, salt: bytes('DGv6ra1nlYgDCS1FRnbzlw') };
    const message = Buffer.from('When I grow up, I want to be a watermelon');
    expect(encryptMessage(message, receiver, sender).toString('base64url')).toBe(
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
    );
  });

  test('is readable by another implementation, and by the receiver only', () => {
    const [device, other] = [createECDH('prime256v1'), createECDH('prime256v1')];
    device.generateKeys();
    other.generateKeys();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: MAX_MESSAGE_BYTES }), (content) => {
        const authSecret = randomBytes(16);
        const message = Buffer.from(content);
        const sealed = encryptMessage(message, { publicKey: device.getPublicKey(), authSecret });
        expect(sealed.length).toBeLessThanOrEqual(4_096);
        const read = (privateKey: typeof device) =>
          ece.decrypt(sealed, { version: 'aes128gcm', privateKey, authSecret });
        expect(read(device).equals(message)).toBe(true);
        expect(() => read(other)).toThrow(/unable to authenticate/);
      }),
      { numRuns: runs(100) },
    );
  });

  test('refuses a message that push services need not accept', () => {
    const device = createECDH('prime256v1');
    device.generateKeys();
    const receiver = { publicKey: device.getPublicKey(), authSecret: randomBytes(16) };
    expect(encryptMessage(Buffer.alloc(MAX_MESSAGE_BYTES), receiver)).toHaveLength(4_096);
    expect(() => encryptMessage(Buffer.alloc(MAX_MESSAGE_BYTES + 1), receiver)).toThrow(RangeError);
  });

  test('a public key is an uncompressed point of the curve', () => {
    const device = createECDH('prime256v1');
    device.generateKeys();
    const key = device.getPublicKey();
    expect(isPublicKey(key)).toBe(true);
    expect(isPublicKey(device.getPublicKey(null, 'compressed'))).toBe(false);
    expect(isPublicKey(Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]))).toBe(false);
    expect(isPublicKey(key.subarray(0, 64))).toBe(false);
  });
});
