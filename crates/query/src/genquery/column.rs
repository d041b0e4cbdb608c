//! The columns that a query may name, and the entities they belong to.

/// What a column belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Entity {
    Collection,
    Object,
    CollectionAvu,
    ObjectAvu,
    CollectionAccess,
    ObjectAccess,
    User,
    UserAvu,
    Resource,
    ResourceAvu,
    Ticket,
    Zone,
    Rule,
    Token,
    Quota,
}

impl Entity {
    /// Whether it is the attributes (AVUs) of some entity.
    pub(super) fn is_avu(self) -> bool {
        matches!(self, Self::CollectionAvu | Self::ObjectAvu | Self::UserAvu | Self::ResourceAvu)
    }
}

/// How values compare and sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Integer,
}

macro_rules! columns {
    ($($name:ident $column:ident $entity:ident $type:ident;)*) => {
        /// A column.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Column { $($column),* }

        impl Column {
            /// Looks a column up by name, ignoring case.
            pub(super) fn named(name: &str) -> Option<Self> {
                let name = name.to_ascii_uppercase();
                match name.as_str() {
                    $(stringify!($name) => Some(Self::$column),)*
                    name => Self::renamed(name),
                }
            }

            /// Its name in GenQuery 1.
            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$column => stringify!($name)),* }
            }

            /// All columns.
            #[cfg(test)]
            pub(super) const ALL: &[Self] = &[$(Self::$column),*];

            pub(super) fn entity(self) -> Entity {
                match self { $(Self::$column => Entity::$entity),* }
            }

            pub(super) fn r#type(self) -> Type {
                match self { $(Self::$column => Type::$type),* }
            }
        }
    };
}

columns! {
    COLL_ID CollId Collection Integer;
    COLL_NAME CollName Collection Text;
    COLL_PARENT_NAME CollParentName Collection Text;
    COLL_OWNER_NAME CollOwnerName Collection Text;
    COLL_OWNER_ZONE CollOwnerZone Collection Text;
    COLL_INHERITANCE CollInheritance Collection Text;
    COLL_CREATE_TIME CollCreateTime Collection Text;
    COLL_MODIFY_TIME CollModifyTime Collection Text;
    DATA_ID DataId Object Integer;
    DATA_COLL_ID DataCollId Object Integer;
    DATA_NAME DataName Object Text;
    DATA_REPL_NUM DataReplNum Object Integer;
    DATA_REPL_STATUS DataReplStatus Object Text;
    DATA_TYPE_NAME DataTypeName Object Text;
    DATA_SIZE DataSize Object Integer;
    DATA_PATH DataPath Object Text;
    DATA_RESC_NAME DataRescName Object Text;
    DATA_RESC_HIER DataRescHier Object Text;
    DATA_CHECKSUM DataChecksum Object Text;
    DATA_OWNER_NAME DataOwnerName Object Text;
    DATA_OWNER_ZONE DataOwnerZone Object Text;
    DATA_CREATE_TIME DataCreateTime Object Text;
    DATA_MODIFY_TIME DataModifyTime Object Text;
    DATA_ACCESS_TIME DataAccessTime Object Text;
    DATA_COMMENTS DataComments Object Text;
    DATA_EXPIRY DataExpiry Object Text;
    DATA_MODE DataMode Object Text;
    DATA_STATUS DataStatus Object Text;
    DATA_VERSION DataVersion Object Text;
    META_COLL_ATTR_NAME MetaCollName CollectionAvu Text;
    META_COLL_ATTR_VALUE MetaCollValue CollectionAvu Text;
    META_COLL_ATTR_UNITS MetaCollUnits CollectionAvu Text;
    META_COLL_ATTR_ID MetaCollId CollectionAvu Integer;
    META_COLL_CREATE_TIME MetaCollCreateTime CollectionAvu Text;
    META_COLL_MODIFY_TIME MetaCollModifyTime CollectionAvu Text;
    META_DATA_ATTR_NAME MetaDataName ObjectAvu Text;
    META_DATA_ATTR_VALUE MetaDataValue ObjectAvu Text;
    META_DATA_ATTR_UNITS MetaDataUnits ObjectAvu Text;
    META_DATA_ATTR_ID MetaDataId ObjectAvu Integer;
    META_DATA_CREATE_TIME MetaDataCreateTime ObjectAvu Text;
    META_DATA_MODIFY_TIME MetaDataModifyTime ObjectAvu Text;
    META_USER_ATTR_NAME MetaUserName UserAvu Text;
    META_USER_ATTR_VALUE MetaUserValue UserAvu Text;
    META_USER_ATTR_UNITS MetaUserUnits UserAvu Text;
    META_USER_ATTR_ID MetaUserId UserAvu Integer;
    META_USER_CREATE_TIME MetaUserCreateTime UserAvu Text;
    META_USER_MODIFY_TIME MetaUserModifyTime UserAvu Text;
    META_RESC_ATTR_NAME MetaRescName ResourceAvu Text;
    META_RESC_ATTR_VALUE MetaRescValue ResourceAvu Text;
    META_RESC_ATTR_UNITS MetaRescUnits ResourceAvu Text;
    META_RESC_ATTR_ID MetaRescId ResourceAvu Integer;
    META_RESC_CREATE_TIME MetaRescCreateTime ResourceAvu Text;
    META_RESC_MODIFY_TIME MetaRescModifyTime ResourceAvu Text;
    COLL_ACCESS_TYPE CollAccessType CollectionAccess Integer;
    COLL_ACCESS_NAME CollAccessName CollectionAccess Text;
    COLL_TOKEN_NAMESPACE CollTokenNamespace CollectionAccess Text;
    COLL_ACCESS_COLL_ID CollAccessCollId CollectionAccess Integer;
    COLL_ACCESS_USER_ID CollAccessUserId CollectionAccess Integer;
    COLL_ACCESS_USER_NAME CollAccessUserName CollectionAccess Text;
    COLL_ACCESS_USER_TYPE CollAccessUserType CollectionAccess Text;
    COLL_ACCESS_USER_ZONE CollAccessUserZone CollectionAccess Text;
    DATA_ACCESS_TYPE DataAccessType ObjectAccess Integer;
    DATA_ACCESS_NAME DataAccessName ObjectAccess Text;
    DATA_TOKEN_NAMESPACE DataTokenNamespace ObjectAccess Text;
    DATA_ACCESS_DATA_ID DataAccessDataId ObjectAccess Integer;
    DATA_ACCESS_USER_ID DataAccessUserId ObjectAccess Integer;
    DATA_ACCESS_USER_NAME DataAccessUserName ObjectAccess Text;
    DATA_ACCESS_USER_TYPE DataAccessUserType ObjectAccess Text;
    DATA_ACCESS_USER_ZONE DataAccessUserZone ObjectAccess Text;
    USER_ID UserId User Integer;
    USER_NAME UserName User Text;
    USER_TYPE UserType User Text;
    USER_ZONE UserZone User Text;
    USER_DN UserDn User Text;
    USER_INFO UserInfo User Text;
    USER_COMMENT UserComment User Text;
    USER_CREATE_TIME UserCreateTime User Text;
    USER_MODIFY_TIME UserModifyTime User Text;
    RESC_ID RescId Resource Integer;
    RESC_NAME RescName Resource Text;
    RESC_TYPE_NAME RescTypeName Resource Text;
    RESC_ZONE_NAME RescZoneName Resource Text;
    RESC_LOC RescLocation Resource Text;
    RESC_VAULT_PATH RescVaultPath Resource Text;
    RESC_STATUS RescStatus Resource Text;
    RESC_CONTEXT RescContext Resource Text;
    RESC_COMMENT RescComment Resource Text;
    RESC_INFO RescInformation Resource Text;
    RESC_FREE_SPACE RescFreeSpace Resource Text;
    RESC_PARENT RescParent Resource Text;
    RESC_CREATE_TIME RescCreateTime Resource Text;
    RESC_MODIFY_TIME RescModifyTime Resource Text;
    TICKET_ID TicketId Ticket Integer;
    TICKET_STRING TicketString Ticket Text;
    TICKET_TYPE TicketType Ticket Text;
    TICKET_USER_ID TicketUserId Ticket Integer;
    TICKET_OWNER_NAME TicketOwnerName Ticket Text;
    TICKET_OWNER_ZONE TicketOwnerZone Ticket Text;
    TICKET_OBJECT_ID TicketObjectId Ticket Integer;
    TICKET_OBJECT_TYPE TicketObjectType Ticket Text;
    TICKET_DATA_NAME TicketDataName Ticket Text;
    TICKET_DATA_COLL_NAME TicketDataCollName Ticket Text;
    TICKET_COLL_NAME TicketCollName Ticket Text;
    TICKET_USES_LIMIT TicketUsesLimit Ticket Integer;
    TICKET_USES_COUNT TicketUsesCount Ticket Integer;
    TICKET_WRITE_FILE_LIMIT TicketWriteFileLimit Ticket Integer;
    TICKET_WRITE_FILE_COUNT TicketWriteFileCount Ticket Integer;
    TICKET_WRITE_BYTE_LIMIT TicketWriteByteLimit Ticket Integer;
    TICKET_WRITE_BYTE_COUNT TicketWriteByteCount Ticket Integer;
    TICKET_EXPIRY TicketExpiry Ticket Text;
    TICKET_EXPIRY_TS TicketExpiryTs Ticket Text;
    TICKET_CREATE_TIME TicketCreateTime Ticket Text;
    TICKET_MODIFY_TIME TicketModifyTime Ticket Text;
    TICKET_ALLOWED_USER_NAME TicketAllowedUser Ticket Text;
    TICKET_ALLOWED_USER_TICKET_ID TicketAllowedUserTicketId Ticket Integer;
    TICKET_ALLOWED_GROUP_NAME TicketAllowedGroup Ticket Text;
    TICKET_ALLOWED_GROUP_TICKET_ID TicketAllowedGroupTicketId Ticket Integer;
    TICKET_ALLOWED_HOST TicketAllowedHost Ticket Text;
    TICKET_ALLOWED_HOST_TICKET_ID TicketAllowedHostTicketId Ticket Integer;
    QUOTA_USER_ID QuotaUserId Quota Integer;
    QUOTA_USER_NAME QuotaUserName Quota Text;
    QUOTA_USER_ZONE QuotaUserZone Quota Text;
    QUOTA_USER_TYPE QuotaUserType Quota Text;
    QUOTA_RESC_ID QuotaRescId Quota Integer;
    QUOTA_RESC_NAME QuotaRescName Quota Text;
    QUOTA_LIMIT QuotaLimit Quota Integer;
    QUOTA_OVER QuotaOver Quota Integer;
    QUOTA_MODIFY_TIME QuotaModifyTime Quota Text;
    QUOTA_USAGE QuotaUsage Quota Integer;
    QUOTA_USAGE_USER_ID QuotaUsageUserId Quota Integer;
    QUOTA_USAGE_RESC_ID QuotaUsageRescId Quota Integer;
    QUOTA_USAGE_MODIFY_TIME QuotaUsageModifyTime Quota Text;
    ZONE_NAME ZoneName Zone Text;
    ZONE_TYPE ZoneType Zone Text;
    ZONE_CONNECTION ZoneConnection Zone Text;
    ZONE_COMMENT ZoneComment Zone Text;
    RULE_EXEC_ID RuleExecId Rule Integer;
    RULE_EXEC_NAME RuleExecName Rule Text;
    RULE_EXEC_USER_NAME RuleExecUser Rule Text;
    RULE_EXEC_TIME RuleExecTime Rule Text;
    TOKEN_NAMESPACE TokenNamespace Token Text;
    TOKEN_ID TokenId Token Integer;
    TOKEN_NAME TokenName Token Text;
}

impl Column {
    /// Whether it describes where an object is stored, rather than the object.
    pub(super) fn is_of_place(self) -> bool {
        matches!(self, Self::DataPath | Self::DataRescName | Self::DataRescHier)
            || matches!(self.entity(), Entity::Resource | Entity::ResourceAvu)
    }

    /// Whether it is an attribute's name.
    pub(super) fn is_attribute_name(self) -> bool {
        use Column as C;
        matches!(self, C::MetaCollName | C::MetaDataName | C::MetaUserName | C::MetaRescName)
    }

    /// Columns whose name differs in GenQuery 2.
    fn renamed(name: &str) -> Option<Self> {
        Some(match name {
            "COLL_ACCESS_PERM_ID" => Self::CollAccessType,
            "COLL_ACCESS_PERM_NAME" => Self::CollAccessName,
            "DATA_ACCESS_PERM_ID" => Self::DataAccessType,
            "DATA_ACCESS_PERM_NAME" => Self::DataAccessName,
            "RESC_HOSTNAME" => Self::RescLocation,
            "DELAY_RULE_ID" => Self::RuleExecId,
            "DELAY_RULE_NAME" => Self::RuleExecName,
            "DELAY_RULE_USER_NAME" => Self::RuleExecUser,
            "DELAY_RULE_EXE_TIME" => Self::RuleExecTime,
            _ => return None,
        })
    }
}
