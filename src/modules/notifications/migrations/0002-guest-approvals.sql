-- Names of guests and domains are read with the rights of the reader, like other titles.
UPDATE notifications
   SET subject_kind = 'guest_approval', subject_id = (data->>'approval_id')::uuid, data = data - 'guest' - 'domain'
 WHERE type IN ('guest.waiting', 'domain.requested') AND subject_kind IS NULL;
