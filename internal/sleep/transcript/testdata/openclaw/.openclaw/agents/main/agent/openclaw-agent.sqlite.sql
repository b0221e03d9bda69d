CREATE TABLE auth_profile_store (store_key TEXT, store_json TEXT);
