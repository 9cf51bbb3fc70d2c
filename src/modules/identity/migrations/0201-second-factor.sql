-- When the password was last set; null: never since the account was made, or there is none.
ALTER TABLE accounts ADD COLUMN password_changed_at timestamptz;
-- Since when a second factor is asked of every session; null: none is. The factor itself is kept by account-security.
ALTER TABLE accounts ADD COLUMN second_factor_since timestamptz;

-- When the second factor was last proven in this session; null: not yet (NIST SP 800-63B: below AAL2).
ALTER TABLE sessions ADD COLUMN aal2_at timestamptz;
-- What its owner recognises it by; null where it was not opened by a browser.
ALTER TABLE sessions ADD COLUMN user_agent text;
ALTER TABLE sessions ADD COLUMN ip text;
-- To the minute.
ALTER TABLE sessions ADD COLUMN last_seen_at timestamptz;
