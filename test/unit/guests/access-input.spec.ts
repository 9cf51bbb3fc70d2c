import { ClaimInvite, VerifyViewer } from '../../../src/modules/calls/guests/access/access.dto.js';
import { ApiError } from '../../../src/platform/http/errors.js';
import { validated } from '../../../src/platform/http/input.pipe.js';

describe('the code of a guest', () => {
  const email = 'gina@partner.example';
  test.each(['480215', ' 480215\n', '480 215', '480-215', '48\u00a002\u00a015'])(
    'may be in groups: %j',
    (code) => {
      expect(validated(ClaimInvite, { name: 'Gina', email, code }).code).toBe('480215');
      expect(validated(VerifyViewer, { email, code }).code).toBe('480215');
    },
  );

  test.each(['48021', '4802155', '48o215', 480_215, ''])('has six digits: %j', (code) => {
    expect(() => validated(ClaimInvite, { name: 'Gina', email, code })).toThrow(ApiError);
  });
});
