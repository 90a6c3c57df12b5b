--- Tells the user of a request that failed.

---@param err? azimuth.Error
---@return boolean failed
return function(err)
  if err then
    vim.notify("Azimuth: " .. err.message, vim.log.levels.ERROR)
  end
  return err ~= nil
end
