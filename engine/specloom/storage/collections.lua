-- The collections of a store, in one script that runs whole or not at all. ARGV: what to do, the mark of the store, the
-- time (empty: the server's), and what that takes. Owners, places and names are tags, values are sealed. Under the base:
--   meta               format, tags (their sealed key), mark (what tells this store from one before it), compact
--   number             the last number that was given: to items, in their order, and to changes
--   owner:AUTHOR       tenant, salt: gone with the author's last item; what has no salt is no item
--   tenant:TENANT      the authors of a tenant
--   item:TAG           an item; its stream is events:TAG
--   in:VIEW            its items by number; used:VIEW by their last use; ends:VIEW by their end
--   about:VIEW         size in bytes, change: the number of its last one
--   versions:VIEW      the version of each item by number, where items are found by words
--   mark:MARK          the items with a text in a field
--   by:AUTHOR, of:COLLECTION   items by number; collections: their names
--   ends               all items that end
--   erasing            authors whose items up to a number are being removed
local base = KEYS[1]
local call = redis.call
local time = call('TIME')
local now = tonumber(ARGV[3]) or time[1] + time[2] / 1e6

local TAG = 16
local FIELDS = {
  'id', 'collection', 'place', 'author', 'version', 'created', 'changed', 'used', 'expires', 'last', 'size', 'value',
}
local ID, AUTHOR, VERSION, CREATED, EXPIRES, LAST, SIZE, VALUE = 1, 4, 5, 6, 9, 10, 11, 12

local function key(kind, tag) return base .. kind .. ':' .. tag end

local function text(number) return string.format('%.17g', number) end

local function number_next() return call('INCR', base .. 'number') end

local function split(tags)
  local each = {}
  for at = 1, #tags, TAG do table.insert(each, string.sub(tags, at, at + TAG - 1)) end
  return each
end

-- The fields of an item, the salt of its author and its tag; nil where it has ended, or its author is erased.
local function read(tag)
  local row = call('HMGET', key('item', tag), unpack(FIELDS))
  if not row[ID] or (row[EXPIRES] ~= '' and tonumber(row[EXPIRES]) <= now) then return nil end
  local salt = call('HGET', key('owner', row[AUTHOR]), 'salt')
  local erased = call('HGET', base .. 'erasing', row[AUTHOR])
  if not salt or (erased and tonumber(row[ID]) <= tonumber(erased)) then return nil end
  table.insert(row, salt)
  table.insert(row, tag)
  return row
end

local function find_by_number(view, id) return call('ZRANGEBYSCORE', key('in', view), id, id)[1] end

-- Remove an item with all that leads to it; its bytes and its collection, or 0.
local function remove(tag)
  local item = call('HMGET', key('item', tag), 'id', 'collection', 'view', 'author', 'size', 'marks')
  local id, collection, view, author, size = item[1], item[2], item[3], item[4], tonumber(item[5])
  if not id then return 0 end
  call('UNLINK', key('item', tag), key('events', tag))
  for _, mark in ipairs(split(item[6])) do call('SREM', key('mark', mark), tag) end
  for _, kind in ipairs({'in', 'used', 'ends'}) do call('ZREM', key(kind, view), tag) end
  call('ZREM', base .. 'ends', tag)
  call('HDEL', key('versions', view), id)
  if call('ZREM', key('of', collection), tag) == 1 and call('EXISTS', key('of', collection)) == 0 then
    call('SREM', base .. 'collections', collection)
  end
  if call('EXISTS', key('in', view)) == 1 then
    call('HINCRBY', key('about', view), 'size', -size)
    call('HSET', key('about', view), 'change', number_next())
  else
    call('DEL', key('about', view))
  end
  call('ZREM', key('by', author), tag)
  if call('EXISTS', key('by', author)) == 0 then
    local tenant = call('HGET', key('owner', author), 'tenant')
    call('DEL', key('owner', author))
    if tenant then call('SREM', key('tenant', tenant), author) end
  end
  return size, collection
end

local function remove_each(tags)
  for _, tag in ipairs(tags) do remove(tag) end
  return #tags
end

-- Make room in a view for so many bytes more, `left` going for it; what was in the way, or nil.
local function make_room(view, row, grown, size, most, bytes, evicts, left)
  local held = tonumber(call('HGET', key('about', view), 'size') or 0) - (left and left[SIZE] or 0)
  local many = call('ZCARD', key('in', view)) + (row and 0 or 1) - (left and 1 or 0) - most
  local large = held + grown - bytes
  if evicts and size <= bytes then
    while many > 0 or large > 0 do
      local tag
      for _, least in ipairs(call('ZRANGE', key('used', view), 0, 2)) do
        local spared = (row and least == row[#row]) or (left and least == left[#left])
        if not spared then
          tag = least
          break
        end
      end
      if not tag then break end
      many, large = many - 1, large - remove(tag)
    end
  elseif not evicts and not row and many > 0 then
    return {'many'}
  end
  if large > 0 then return {'large', held} end
end

local commands = {}

-- The store as it is, begun with these where there is none.
function commands.open(format, tags, mark)
  if call('HEXISTS', base .. 'meta', 'mark') == 0 then
    call('HSET', base .. 'meta', 'format', format, 'tags', tags, 'mark', mark)
  end
  return call('HMGET', base .. 'meta', 'format', 'tags', 'mark')
end

function commands.wrap(before, tags)
  if call('HGET', base .. 'meta', 'tags') == before then call('HSET', base .. 'meta', 'tags', tags) end
  return {'done'}
end

-- The time, the salt of an author, and an item.
function commands.look(tag, author)
  return {text(now), call('HGET', key('owner', author), 'salt') or '', read(tag) or ''}
end

local function stamp_of(row) return row and row[ID] .. ':' .. row[VERSION] or '' end

-- Write an item over the one that was seen, which `stamp` names; `salt` is the one that was seen, or a new one. The item
-- with the tag `leaves`, where there is one, goes for it.
function commands.commit(
  tag, view, place, author, tenant, collection, stamp, salt, is_new_salt, value, event, marks, words, lives, lasts, most,
  bytes, evicts, leaves, left_stamp
)
  local row, left = read(tag), leaves ~= '' and read(leaves) or nil
  local owner = call('HGET', key('owner', author), 'salt')
  if stamp_of(row) ~= stamp or stamp_of(left) ~= left_stamp then return {'again'} end
  if (owner or '') ~= (is_new_salt == '1' and '' or salt) then return {'again'} end
  local size = #value + #event + (row and row[SIZE] - #row[VALUE] or 0)
  local grown = size - (row and row[SIZE] or 0)
  if not row then
    remove(tag)
    remove_each(call('ZRANGEBYSCORE', key('ends', view), '-inf', text(now)))
  end
  if not row or grown > 0 then
    local refused = make_room(view, row, grown, size, tonumber(most), tonumber(bytes), evicts == '1', left)
    if refused then return refused end
  end
  if left then remove(leaves) end
  local id = row and row[ID] or text(number_next())
  local version = row and text(row[VERSION] + 1) or '1'
  local created = row and row[CREATED] or text(now)
  local last = text((row and row[LAST] or 0) + (event == '' and 0 or 1))
  local ends = math.min(tonumber(lives) and now + lives or math.huge, tonumber(lasts) and now + lasts or math.huge)
  local expires = ends < math.huge and text(ends) or ''
  local before = row and call('HGET', key('item', tag), 'marks') or ''
  call(
    'HSET', key('item', tag), 'id', id, 'collection', collection, 'view', view, 'place', place, 'author', author,
    'version', version, 'created', created, 'changed', text(now), 'used', text(now), 'expires', expires, 'last', last,
    'size', text(size), 'value', value, 'marks', marks, 'words', words
  )
  if event ~= '' then call('RPUSH', key('events', tag), text(now) .. ' ' .. event) end
  if before ~= marks then
    for _, mark in ipairs(split(before)) do call('SREM', key('mark', mark), tag) end
    for _, mark in ipairs(split(marks)) do call('SADD', key('mark', mark), tag) end
  end
  local change = number_next()
  call('ZADD', key('in', view), id, tag)
  call('ZADD', key('used', view), change, tag)
  for _, all in ipairs({key('ends', view), base .. 'ends'}) do
    if expires == '' then call('ZREM', all, tag) else call('ZADD', all, expires, tag) end
  end
  if words ~= '' then call('HSET', key('versions', view), id, version) end
  call('HINCRBY', key('about', view), 'size', text(grown))
  call('HSET', key('about', view), 'change', change)
  call('ZADD', key('by', author), id, tag)
  call('ZADD', key('of', collection), id, tag)
  call('SADD', base .. 'collections', collection)
  call('HSET', key('owner', author), 'tenant', tenant, 'salt', salt)
  call('SADD', key('tenant', tenant), author)
  return {'done', version, created, text(now), expires, last}
end

function commands.delete(tag, author)
  local row = read(tag)
  if not row or row[AUTHOR] ~= author then return {'none'} end
  remove(tag)
  return {'done'}
end

-- Write down that an item was read; its lifetime begins anew where it has one that does.
function commands.touch(tag, id, view, lives)
  local row = read(tag)
  if not row or row[ID] ~= id then return {'none'} end
  call('HSET', key('item', tag), 'used', text(now))
  call('ZADD', key('used', view), number_next(), tag)
  if lives ~= '' then
    local expires = text(now + lives)
    call('HSET', key('item', tag), 'expires', expires)
    call('ZADD', key('ends', view), expires, tag)
    call('ZADD', base .. 'ends', expires, tag)
  end
  return {'done'}
end

-- Living items of a view, newest first, with all of these marks; `among` are the only numbers that are wanted.
function commands.select(view, limit, marks, among)
  local tags = {}
  if among ~= '' then
    for id in string.gmatch(among, '%d+') do table.insert(tags, find_by_number(view, id)) end
  else
    tags = call('ZREVRANGE', key('in', view), 0, -1)
  end
  local rows, wanted = {}, split(marks)
  for _, tag in ipairs(tags) do
    if #rows >= tonumber(limit) then break end
    local fits = true
    for _, mark in ipairs(wanted) do fits = fits and call('SISMEMBER', key('mark', mark), tag) == 1 end
    local row = fits and read(tag)
    if row then table.insert(rows, row) end
  end
  return {rows}
end

function commands.events(tag, first, last)
  local row = read(tag)
  if not row then return {'', {}} end
  return {row, call('LRANGE', key('events', tag), first - 1, last == '' and -1 or last - 1)}
end

function commands.count(view)
  return {call('ZCARD', key('in', view)) - call('ZCOUNT', key('ends', view), '-inf', text(now))}
end

function commands.total(collection) return {call('ZCARD', key('of', collection))} end

-- The number of the last change of a view, and the versions of its items unless that is the one that was seen.
function commands.versions(view, change)
  local last = call('HGET', key('about', view), 'change') or ''
  return {last, last == change and {} or call('HGETALL', key('versions', view))}
end

-- Number, tag, author, version, sealed words and salt of items.
function commands.words(view, among)
  local each = {}
  for id in string.gmatch(among, '%d+') do
    local tag = find_by_number(view, id)
    local item = tag and call('HMGET', key('item', tag), 'author', 'version', 'words')
    local salt = item and item[1] and call('HGET', key('owner', item[1]), 'salt')
    if salt then table.insert(each, {id, tag, item[1], item[2], item[3], salt}) end
  end
  return {each}
end

function commands.expire(limit)
  return {remove_each(call('ZRANGEBYSCORE', base .. 'ends', '-inf', text(now), 'LIMIT', 0, limit))}
end

function commands.collections() return {call('SMEMBERS', base .. 'collections')} end

-- Items behind a number, of an author (`by`) or a collection (`of`), with their events and words, until they are many
-- or large: the last number, empty at the end, and the items.
function commands.page(kind, whose, after, limit, most)
  local tags = call('ZRANGEBYSCORE', key(kind, whose), '(' .. after, '+inf', 'LIMIT', 0, limit)
  local rows, size, looked = {}, 0, 0
  for _, tag in ipairs(tags) do
    if size >= tonumber(most) then break end
    local row = read(tag)
    if row then
      size = size + row[SIZE]
      table.insert(rows, {row, call('LRANGE', key('events', tag), 0, -1), call('HGET', key('item', tag), 'words')})
    end
    looked = looked + 1
  end
  local is_end = looked == #tags and looked < tonumber(limit)
  return {is_end and '' or call('ZSCORE', key(kind, whose), tags[looked]), rows}
end

-- Put what was sealed anew in place of what was read, if that is still there.
function commands.reseal(tag, id, version, value, words, ...)
  local row = read(tag)
  if not row or row[ID] ~= id or row[VERSION] ~= version then return {'again'} end
  call('HSET', key('item', tag), 'value', value, 'words', words)
  local events = {...}
  for at, event in ipairs(events) do call('LSET', key('events', tag), at - 1, event) end
  return {'done'}
end

function commands.authors(tenant) return {call('SMEMBERS', key('tenant', tenant))} end

-- From now on nothing opens that an author has written: the time, and the author's tenant.
function commands.erase(author)
  local tenant = call('HGET', key('owner', author), 'tenant')
  call('HSET', base .. 'meta', 'compact', '1')
  if not tenant then return {text(now), ''} end
  call('HSET', base .. 'erasing', author, call('GET', base .. 'number'))
  call('DEL', key('owner', author))
  call('SREM', key('tenant', tenant), author)
  return {text(now), tenant}
end

-- Remove some of what is being erased: how many are left to be looked at, and the collections of what went.
function commands.clear(author, limit)
  local last, went = call('HGET', base .. 'erasing', author), {}
  if not last then return {0, went} end
  local tags = call('ZRANGEBYSCORE', key('by', author), '-inf', last, 'LIMIT', 0, limit)
  for _, tag in ipairs(tags) do
    local _, collection = remove(tag)
    table.insert(went, collection)
  end
  if #tags == 0 then call('HDEL', base .. 'erasing', author) end
  return {#tags, went}
end

function commands.erasing() return {call('HKEYS', base .. 'erasing')} end

-- Remove what lies in a collection, of everybody or of one author: the last number that was looked at, how many went.
function commands.empty(collection, author, after, limit)
  local all = author == '' and key('of', collection) or key('by', author)
  local tags = call('ZRANGEBYSCORE', all, '(' .. after, '+inf', 'LIMIT', 0, limit)
  local next = #tags == tonumber(limit) and call('ZSCORE', all, tags[#tags]) or ''
  local went = 0
  for _, tag in ipairs(tags) do
    if call('HGET', key('item', tag), 'collection') == collection then
      remove(tag)
      went = went + 1
    end
  end
  if went > 0 then call('HSET', base .. 'meta', 'compact', '1') end
  return {next, went}
end

function commands.compact() return {call('HGET', base .. 'meta', 'compact') or ''} end

function commands.compacted()
  call('HDEL', base .. 'meta', 'compact')
  return {'done'}
end

if ARGV[1] ~= 'open' and call('HGET', base .. 'meta', 'mark') ~= ARGV[2] then return {'other'} end
return commands[ARGV[1]](unpack(ARGV, 4))
